from __future__ import annotations

import pytest

from sparingly.base.errors import InputError, UsageError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.guidelines import Acceptances
from tests.run.campaign.made import begin


def test_guidelines_are_versions_in_the_journal(where: str) -> None:
    with begin(where) as campaign:
        assert campaign.guidelines() is None
        campaign.set_guidelines("# One\r\n\r\nText\r\n")
        campaign.set_guidelines("# Two\n")
        with pytest.raises(InputError, match="are empty"):
            campaign.set_guidelines("  ")
    with Campaign(where) as campaign:
        found = campaign.guidelines()
        assert found is not None
        assert (found.title, found.version) == ("Two", 2)
        first = campaign.guidelines(at=2)
        assert first is not None
        assert (first.text, first.version) == ("# One\n\nText\n", 1)
        accepted = Acceptances(campaign.database, campaign.name)
        accepted.save("anna", found, {})
        accepted.save("anna", found, {})
        assert accepted.missing("anna", found) == (False, False, ())
        campaign.close()
        with pytest.raises(UsageError, match="is closed"):
            campaign.set_guidelines("# Three\n")
