"""Item response theory: how hard an item is, how well it tells models apart, and how able the models are.

``fit_irt`` fits scores (plain arrays); ``fisher_information`` says what an item teaches about abilities.
"""

from sparingly.published.irt.fit import fit_irt as fit_irt
from sparingly.published.irt.model import BINARY as BINARY
from sparingly.published.irt.model import CONTINUOUS as CONTINUOUS
from sparingly.published.irt.model import IrtFit as IrtFit
from sparingly.published.irt.model import Parameters as Parameters
from sparingly.published.irt.model import Priors as Priors
from sparingly.published.irt.model import fisher_information as fisher_information
from sparingly.published.irt.model import scaled as scaled
from sparingly.published.irt.model import success as success
