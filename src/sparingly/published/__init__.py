"""Methods of published papers that are here for comparison, and item response theory: loaded when named."""
