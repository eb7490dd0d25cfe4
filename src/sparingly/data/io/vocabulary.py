"""The words in names of columns, by what they say of a column."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


# Whole names, small letters and digits only, the likeliest first.
NAMES: dict[str, tuple[str, ...]] = {
    "model": (
        *("model", "modelid", "modelname", "system", "systemid", "systemname", "sys", "generator"),
        *("mtsystem", "engine", "llm", "llmname", "bot", "assistant", "modelversion", "deployment"),
    ),
    "reference": (
        *("reference", "referencetext", "ref", "gold", "golden", "groundtruth", "expected", "expectedoutput"),
        *(
            "expectedanswer",
            "expectedresponse",
            "idealanswer",
            "ideal",
            "idealresponse",
            "target",
            "targettext",
        ),
        *("goldanswer", "goldenanswer", "goldresponse", "referenceanswer", "correctanswer", "humanreference"),
    ),
    "input": (
        *("source", "sourcetext", "src", "prompt", "prompttext", "question", "questiontext", "query"),
        *(
            "instruction",
            "input",
            "inputtext",
            "userinput",
            "userprompt",
            "usermessage",
            "userquery",
            "request",
        ),
        *(
            "messages",
            "conversation",
            "dialogue",
            "dialog",
            "chat",
            "utterance",
            "article",
            "problem",
            "task",
        ),
    ),
    "output": (
        *("output", "outputtext", "hypothesis", "hyp", "translation", "mt", "tgt", "completion", "response"),
        *("prediction", "generation", "generated", "generatedtext", "modeloutput", "modelresponse", "reply"),
        *(
            "actualoutput",
            "answer",
            "modelanswer",
            "assistantresponse",
            "summary",
            "candidate",
            "result",
            "text",
        ),
        *("content", "message", "transcript"),
    ),
    "document": ("document", "documentid", "documentname", "doc", "docid", "docname"),
    "position": ("position", "docsegid", "positionindocument"),
    "domain": ("domain", "domainname", "genre"),
    "cost": ("cost",),
    "weight": ("weight", "importance"),
}
JUDGING: dict[str, tuple[str, ...]] = {
    "rater": (
        *("rater", "raterid", "annotator", "annotatorid", "worker", "workerid", "evaluator", "judge"),
        *("labeler", "labeller", "reviewer", "expert", "grader", "judgename", "judgemodel", "evaluatormodel"),
    ),
    "score": ("score", "rating", "label", "grade", "verdict", "value", "judgment", "judgement"),
    "aspect": ("aspect", "criterion", "criteria", "dimension"),
    "seconds": ("seconds", "duration", "durationseconds", "timeseconds", "timespent"),
    "comment": ("comment", "comments", "remark"),
}
# Last words that tell the part of a text.
HEADS = {
    "input": word_set(
        "prompt question query instruction instructions input source src request utterance article"
        " problem messages conversation dialogue dialog chat history ticket"
    ),
    "output": word_set(
        "output outputs response responses answer answers completion completions generation generations"
        " generated translation translations hypothesis summary summaries prediction predictions reply"
        " replies result text candidate"
    ),
    "reference": word_set("reference gold golden groundtruth expected ideal target"),
    "model": word_set("model system engine generator llm bot"),
}
# Words at the end of a name that say nothing of what it is.
FILLERS = word_set("text texts content string str body raw value message msg name full final")
REFERENCE_WORDS = word_set("reference ref gold golden expected ideal target truth correct human")
VARIANTS = word_set(
    "version variant config configuration experiment run arm branch release setup treatment condition"
    " template strategy approach method policy pipeline group"
)
EPOCHS = word_set("epoch run repeat repetition rep seed attempt trial iteration replicate")
# What an id may be of, the likeliest to be an item first; other ids are none of items.
IDS_OF = (
    *("item", "segment", "seg", "globalseg", "sample", "example", "prompt", "question", "query", "instance"),
    *(
        "source",
        "input",
        "case",
        "testcase",
        "test",
        "task",
        "problem",
        "",
        "u",
        "uu",
        "gu",
        "entry",
        "record",
    ),
    *(
        "ticket",
        "request",
        "conversation",
        "dialog",
        "dialogue",
        "chat",
        "trace",
        "answer",
        "response",
        "output",
    ),
    *("message", "completion", "generation", "row", "line"),
)
ID_WORDS = word_set("id ids uid uuid guid key idx index no nr number")
JUDGE_WORDS = word_set(
    "judge llm gpt claude gemini llama ai auto automatic automated metric model classifier predicted"
    " reward rm bleu sacrebleu chrf ter rouge meteor bertscore bartscore bleurt comet kiwi cometkiwi"
    " xcomet metricx unieval geval prometheus ragas similarity cosine embedding perplexity ppl loss"
    " logprob nll confidence probability f1 exact precision recall toxicity sentiment readability"
    " levenshtein wer cer jaccard qe eval"
)
HUMAN_WORDS = word_set(
    "human humans people annotator annotators annotation expert experts manual rater raters reviewer"
    " reviewers mos csat crowd turker linguist editor mqm esa sqm da"
)
LABEL_WORDS = word_set(
    "label labels gold golden truth feedback thumbs thumb user customer vote votes upvote review likert"
    " survey nps true"
)
# Names that people and judges use alike.
PLAIN_WORDS = word_set(
    "score scores rating ratings grade grades correct correctness pass passed quality overall fluency"
    " adequacy helpfulness helpful relevance relevancy coherence accuracy accurate faithfulness faithful"
    " completeness conciseness clarity consistency groundedness harmlessness safety style tone naturalness"
    " stars verdict success acceptable usefulness satisfaction judgment judgement points marks evaluation"
    " good"
)
MARKS = word_set("score scores rating ratings grade grades quality overall points marks")
LOWER_WORDS = word_set(
    "ter wer cer loss perplexity ppl error errors toxicity distance nll hallucination hallucinations mse"
    " mae rmse violations"
)
# Words of names that are no scores, by what they look like.
NUISANCE: dict[str, frozenset[str]] = {
    "a time": word_set(
        "latency ms millis milliseconds seconds secs sec duration elapsed time timestamp ts created"
        " updated modified started finished ended runtime ttft tstamp minutes hours"
    ),
    "a date": word_set("date datetime day month year created_at"),
    "a number of tokens": word_set("token tokens tok toks usage"),
    "a count": word_set(
        "count counts num chars characters length len words size bytes lines sentences turns retries calls"
    ),
    "a price": word_set("cost costs price usd eur dollars cents spend credits"),
    "a seed": word_set("seed"),
    "a setting": word_set("temperature topp topk top_p max_tokens port gpu batch"),
    "a hash": word_set("hash md5 sha sha1 sha256 checksum digest fingerprint"),
    "an index": word_set("index idx row unnamed rank order number no nr"),
    "an address": word_set("url uri link href ip email phone"),
    "a version": word_set("version release build commit revision"),
}
# What a model is not called, and what texts beside a model's are.
NO_MODELS = word_set(
    "model llm generated actual user assistant bot human gold golden expected reference ref ideal target"
    " correct system judge auto best predicted original source input prompt question query context title"
    " body clean"
)
STRAYS = word_set(
    "note notes comment comments remark remarks topic title category tag tags explanation reason"
    " reasoning rationale feedback description metadata keywords context contexts passage rubric criteria"
    " guideline guidelines language author analysis thoughts thinking tools hint example examples citation"
    " citations sources evidence instructions persona name kommentar bemerkung notiz"
)
WEAK = word_set("text texts result results candidate content")
# Texts that are the input where nothing else is.
WEAK_INPUTS = word_set(
    "document doc text passage context sentence post review email content claim abstract chosen"
)
PREFERENCES = word_set(
    "winner preference preferred better best choice verdict vote outcome result label annotation decision"
)
TIES = word_set("tie ties tied both neither equal draw same none 0 a=b both_bad bothbad")


SCORE_WORDS = word_set("score rating judge human grade")
# Words of names that say what a text is, and so are no models.
HEAD_WORDS = HEADS["output"] | HEADS["input"] - {"source"}
