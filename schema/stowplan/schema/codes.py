"""The catalogue of diagnostic codes.

A code is stable: it never changes its meaning and is never used again. Each has a page that
`stowplan explain CODE` shows, and a case in the tests.
"""

from stowplan.schema.records import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """One code: its default severity (`error`, `warning` or `info`) and its title in a few words."""

    severity: str
    title: str


_E, _W, _I = "error", "warning", "info"

READING = {
    "SP101": Code(_E, "The YAML cannot be parsed"),
    "SP102": Code(_E, "A key stands twice in one mapping"),
    "SP103": Code(_E, "A key is not a string"),
    "SP104": Code(_E, "The file is not UTF-8 text"),
    "SP105": Code(_E, "The file is larger than the limit"),
    "SP106": Code(_E, "The YAML is nested deeper than the limit"),
    "SP107": Code(_E, "Aliases expand to more than the limit"),
    "SP108": Code(_E, "The file holds more documents than the limit"),
    "SP109": Code(_E, "A link leads out of the repository"),
    "SP110": Code(_E, "A tag or value has no meaning in Kubernetes YAML"),
    "SP111": Code(_E, "A document is not a mapping"),
    "SP112": Code(_E, "A file cannot be read"),
    "SP113": Code(_E, "There is no platform file, or there are two"),
    "SP114": Code(_E, "A placeholder was left in"),
    "SP115": Code(_W, "No specs were found"),
    "SP116": Code(_W, "A file that looks like a spec was passed over"),
    "SP117": Code(_E, "A character only looks like a quote or a blank"),
}

SCHEMA = {
    "SP201": Code(_E, "A field is not known"),
    "SP202": Code(_E, "A required field is missing"),
    "SP203": Code(_E, "A value has the wrong type"),
    "SP204": Code(_E, "A value is not one of those allowed"),
    "SP205": Code(_E, "A value is out of range or too short or long"),
    "SP206": Code(_E, "A value does not have the required form"),
    "SP207": Code(_E, "The kind is not known"),
    "SP208": Code(_E, "The apiVersion does not fit the kind"),
    "SP209": Code(_E, "A plain Kubernetes object stands among the specs"),
    "SP210": Code(_E, "A name, label or annotation breaks the rules of Kubernetes"),
    "SP211": Code(_I, "A field that the cluster sets was dropped"),
    "SP212": Code(_I, "A legacy spelling was read as the present one"),
    "SP213": Code(_E, "An embedded Kubernetes value does not fit its schema"),
}

REFERENCES = {
    "SP301": Code(_E, "Two specs have one identity"),
    "SP302": Code(_E, "A spec refers to one that does not exist"),
    "SP303": Code(_E, "A Secret of another namespace cannot be used by a task"),
    "SP304": Code(_E, "A Secret in the repository lacks a key"),
    "SP305": Code(_W, "Two datasets share a cache directory"),
    "SP306": Code(_E, "A job mounts a dataset of another namespace"),
    "SP307": Code(_I, "No job uses the dataset"),
    "SP308": Code(_W, "A role has more pods than its dataset has cache nodes"),
    "SP309": Code(_W, "Several pods mount a claim that one node can mount"),
    "SP310": Code(_E, "Two jobs use the same ports of their nodes"),
    "SP320": Code(_W, "Two specs write to one place of a claim"),
    "SP321": Code(_E, "A claim is made by two specs"),
}

RULES = {
    "SP401": Code(_E, "The dataset names no volume Secret"),
    "SP402": Code(_E, "The source URI cannot be used"),
    "SP403": Code(_E, "The dataset has neither a source nor noSync"),
    "SP404": Code(_E, "The number of partitions is missing or not positive"),
    "SP405": Code(_E, "A path is not usable"),
    "SP406": Code(_W, "A field has no effect any more"),
    "SP407": Code(_W, "An option was renamed or changed in JuiceFS"),
    "SP408": Code(_W, "An option was removed from JuiceFS"),
    "SP409": Code(_E, "An option does not exist in this JuiceFS"),
    "SP410": Code(_W, "A mount option is risky under the CSI driver"),
    "SP411": Code(_I, "A default differs from the old operator's"),
    "SP412": Code(_E, "The task type is missing"),
    "SP413": Code(_E, "A task lacks what its type needs"),
    "SP414": Code(_W, "Options of another task type are ignored"),
    "SP415": Code(_E, "A schedule is not a cron expression"),
    "SP416": Code(_E, "A path lies outside the cache directories"),
    "SP417": Code(_W, "The task deletes data at its source"),
    "SP418": Code(_E, "A schedule never comes"),
    "SP419": Code(_W, "The keys of a source cannot be handed over"),
    "SP420": Code(_E, "A pattern would be passed over"),
    "SP430": Code(_W, "A word is not one that the old operator knew"),
    "SP431": Code(_I, "Pods are kept, whatever the clean-up policy says"),
    "SP432": Code(_I, "Pods reach each other by DNS names"),
    "SP433": Code(_E, "The minimum of a gang is out of range"),
    "SP434": Code(_E, "Elastic workers have no place to meet"),
    "SP435": Code(_W, "A variable is set by the job itself"),
    "SP436": Code(_W, "An entry of a container stands twice"),
    "SP437": Code(_E, "A role has no container"),
    "SP438": Code(_W, "A worker would never complete"),
    "SP439": Code(_E, "There is no room for the job's ports"),
    "SP440": Code(_E, "The request of a device differs from its limit"),
    "SP441": Code(_W, "A pod would resolve no Service"),
    "SP442": Code(_E, "A container mounts a volume that its pod lacks"),
    "SP443": Code(_W, "A pod asks for a node label that nobody sets"),
    "SP444": Code(_E, "A mount stands in the place of the dataset's"),
    "SP445": Code(_E, "A field of the pod cannot be chosen"),
    "SP446": Code(_I, "The template mentions the port of old releases"),
    "SP447": Code(_E, "The gang engine cannot run the job so"),
    "SP448": Code(_E, "A variable is longer than Linux allows"),
    "SP449": Code(_E, "The job has no pods"),
    "SP450": Code(_E, "A name in a pod is taken"),
    "SP451": Code(_E, "A port of a node differs from that of the container"),
    "SP452": Code(_E, "A request is more than its limit"),
    "SP453": Code(_I, "The launcher leaves parameter servers out"),
    "SP454": Code(_W, "A job waits for a step that its dataset does not take"),
    "SP455": Code(_E, "The dataset's driver does not know the task"),
    "SP456": Code(_E, "The dataset's driver does not know the option"),
    "SP470": Code(_W, "Trainers that come and go need a fault-tolerant job"),
    "SP471": Code(_W, "The size of the job is fixed on this platform"),
    "SP472": Code(_W, "Trainers have no port of their own"),
    "SP473": Code(_E, "A command line cannot be split"),
    "SP474": Code(_W, "A command line is written for a shell"),
    "SP475": Code(_E, "A role stands twice"),
    "SP476": Code(_E, "The roles do not fit the mode"),
    "SP477": Code(_E, "No container has the name that trains"),
    "SP478": Code(_I, "Exit codes decide whether a pod is tried again"),
    "SP479": Code(_W, "A variable of the framework is overridden"),
    "SP480": Code(_I, "The priority is that of a PriorityClass too"),
    "SP481": Code(_W, "A job that trains with parameter servers has none"),
    "SP490": Code(_E, "Not exactly one side is a claim"),
    "SP491": Code(_E, "An option is not known"),
    "SP492": Code(_E, "Two variables have one name"),
    "SP493": Code(_E, "A reference to a variable leads nowhere"),
    "SP494": Code(_E, "A side lacks a value, or has one that cannot be"),
    "SP495": Code(_E, "A Git URL cannot be used"),
    "SP496": Code(_E, "An extra argument is not understood"),
    "SP497": Code(_E, "A mirror is not possible here"),
    "SP498": Code(_W, "The deadline leaves no room for all attempts"),
    "SP499": Code(_E, "A claim cannot be used so"),
}

OUTPUT = {
    "SP501": Code(_E, "An object does not fit its Kubernetes schema"),
    "SP502": Code(_E, "A custom resource does not fit its CRD"),
    "SP503": Code(_E, "Two manifests have one identity"),
    "SP504": Code(_E, "A derived name is longer than Kubernetes allows"),
    "SP505": Code(_I, "A derived name was shortened"),
    "SP506": Code(_E, "A manifest refers to an object that does not exist"),
    "SP507": Code(_E, "Two files would have one name"),
    "SP508": Code(_E, "A foreign file stands where a manifest belongs"),
    "SP509": Code(_E, "Another run is writing here"),
    "SP510": Code(_E, "The output cannot be written"),
    "SP511": Code(_E, "The inventory cannot be read"),
    "SP512": Code(_W, "A file in the output was left alone"),
    "SP513": Code(_W, "The files of a run were changed by hand"),
    "SP514": Code(_E, "A name in a manifest breaks the rules of Kubernetes"),
    "SP515": Code(_E, "A claim does not fit its volume, or two volumes share a handle"),
    "SP516": Code(_E, "The inventory is missing"),
    "SP517": Code(_W, "A foreign manifest lies where Argo CD syncs"),
    "SP520": Code(_E, "The sync wave is not a quoted integer"),
    "SP521": Code(_E, "An Argo CD annotation has an unknown value"),
    "SP522": Code(_E, "A Job would be deleted and run again"),
    "SP523": Code(_E, "A claim would wait for a pod in a later wave"),
    "SP524": Code(_E, "A Job would hold its sync open"),
    "SP525": Code(_E, "An object is applied before what it needs"),
    "SP527": Code(_E, "A custom resource could fail its dry run"),
    "SP528": Code(_E, "generateName cannot be synced"),
    "SP529": Code(_E, "Replace or Force on an object that holds data"),
    "SP530": Code(_E, "A data-holding object lacks its protection"),
    "SP531": Code(_E, "A field of the cluster or of Argo CD is in the output"),
    "SP532": Code(_W, "The output of one Application is too large"),
    "SP533": Code(_E, "The kind is not on the project's list"),
    "SP534": Code(_E, "A field belongs to another writer"),
    "SP535": Code(_E, "A prune option would hold the sync of a Job"),
    "SP536": Code(_I, "No Argo CD objects are written"),
    "SP540": Code(_E, "An immutable field changed"),
    "SP541": Code(_W, "A data-holding object was removed"),
    "SP542": Code(_W, "A run would be replaced"),
    "SP550": Code(_E, "A CRD is not structural"),
    "SP551": Code(_E, "A CRD is too large"),
    "SP560": Code(_E, "An extension failed"),
    "SP561": Code(_E, "An extension changed what is not its own"),
}

POLICY = {
    "SP601": Code(_E, "The platform refuses this"),
    "SP602": Code(_W, "The namespace must allow root tasks"),
    "SP603": Code(_E, "A secret value stands in the open"),
    "SP604": Code(_E, "A rule grants more than the project allows"),
    "SP605": Code(_E, "A pod breaks the restricted profile"),
    "SP606": Code(_I, "The agent images are local"),
    "SP607": Code(_W, "An image is not pinned"),
    "SP613": Code(_E, "A training pod does not fit its namespace's Pod Security level"),
    "SP620": Code(_E, "A transfer may not have these rights"),
}

CATALOGUE: dict[str, Code] = READING | SCHEMA | REFERENCES | RULES | OUTPUT | POLICY
"""Every code there is. A test holds that each has a page and a case."""
