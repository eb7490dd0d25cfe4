"""Pictures: what an analysis found, drawn with Altair (extra ``report``) and saved for any use."""
