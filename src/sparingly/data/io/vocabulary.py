"""The words in names of columns, by what they say of a column."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


# What words of other languages mean, in the words that the tables below are written in.
MEANINGS: dict[str, str] = {
    word: meaning
    for meaning, words in {
        # German, French, Spanish, Italian, Portuguese, Dutch; Chinese and Japanese.
        "question": "frage pregunta domanda pergunta vraag 问题 質問 質問文 提问",
        "input": "eingabe entrée entrada ingresso invoer 输入 入力",
        "request": "anfrage demande consulta richiesta solicitação verzoek",
        "source": "quelle quelltext ausgangstext fuente fonte bron 原文 源文",
        "prompt": "aufforderung consigne 提示 指示 プロンプト",
        "article": "artikel artículo articolo artigo 文章 記事",
        "answer": "antwort réponse reponse respuesta risposta resposta antwoord 回答 答案 応答",
        "output": "ausgabe sortie salida uscita saída saida uitvoer 输出 出力",
        "translation": "übersetzung uebersetzung traduction traducción traduccion traduzione tradução"
        " vertaling 翻译 译文 訳文 翻訳",
        "summary": "zusammenfassung résumé resumen riassunto resumo samenvatting 摘要 要約",
        "text": "texte texto testo tekst",
        "target": "zieltext zielsatz",
        "context": "kontext contexte contexto contesto 上下文 文脈",
        "reference": "referenz référence referencia riferimento referência referentie musterlösung 参考 参照",
        "model": "modell modellname modèle modele modelo modello modelle 模型 モデル",
        "system": "système sistema systeem 系统 システム",
        "version": "versión versione versão versie 版本",
        "human": "mensch menschlich menschliche humain humaine humano humana umano umana mens 人工 人手",
        "judge": "richter juge juez giudice 裁判",
        "ai": "ki ia 人工知能",
        "rating": "bewertung bewertungen évaluation calificación calificacion puntuación"
        " puntuacion punteggio puntaje pontuação valutazione avaliação"
        " beoordeling valoración 评分 评价 評価 打分",
        "grade": "schulnote nota voto cijfer 分数 点数",
        "points": "punkte punktzahl puntos punti pontos punten",
        "satisfaction": "zufriedenheit satisfacción soddisfazione satisfação tevredenheid",
        "quality": "qualität qualitaet qualité calidad qualità qualidade kwaliteit 质量 品質",
        "fluency": "flüssigkeit fluidité fluidez fluidità 流畅度 流暢さ",
        "accuracy": "genauigkeit exactitude précision exactitud accuratezza precisão 准确性 正確さ",
        "correct": "richtig korrekt juste correcto corretto correto juist 正确 正解",
        "helpful": "hilfreich utile útil nuttig",
        "verdict": "urteil veredicto",
        "label": "etikett étiquette etiqueta etichetta 标签 ラベル",
        "rater": "bewerter prüfer pruefer gutachter évaluateur evaluador valutatore avaliador beoordelaar",
        "winner": "gewinner sieger gagnant vainqueur ganador vincitore vencedor winnaar",
        "preferred": "bevorzugt bevorzugte préféré preferido preferito favorito",
        "preference": "präferenz préférence preferencia preferenza preferência voorkeur",
        "better": "besser meilleur mejor migliore melhor beter",
        "comment": "kommentar bemerkung commentaire comentario commento comentário opmerking 备注 コメント",
        "reason": "begründung grund raison razón motivo reden 理由",
        "category": "kategorie catégorie categoría categoria categorie 类别 カテゴリ",
        "topic": "thema sujet tema onderwerp",
        "id": "kennung identifiant identificador identificativo nummer 编号 番号",
        "similarity": "ähnlichkeit aehnlichkeit similarité similitud somiglianza",
        "latency": "latenz latence latencia latenza",
        "duration": "dauer durée duración durata duração duur",
        "time": "zeit zeitstempel temps hora tiempo tempo tijd 时间 時間",
        "date": "datum fecha 日期 日付",
        "cost": "kosten coût coûts costo coste custo 费用",
        "price": "preis prix precio prezzo preço prijs",
        "customer": "kunde kunden client clients cliente klant 客户 お客様",
        "seconds": "sekunde sekunden secondes segundos secondi seconden",
        "words": "wörter palabras parole palavras woorden",
        "user": "nutzer benutzer utilisateur usuario utente usuário gebruiker 用户 ユーザー",
        "message": "nachricht mensaje messaggio mensagem bericht",
    }.items()
    for word in words.split()
}

# Whole names, small letters and digits only, the likeliest first.
NAMES: dict[str, tuple[str, ...]] = {
    "model": (
        *("model", "modelid", "modelname", "system", "systemid", "systemname", "sys", "generator"),
        *("mtsystem", "engine", "llm", "llmname", "bot", "assistant", "agent", "chatbot", "modelversion"),
        "deployment",
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
            "turns",
            "thread",
            "conversation",
            "dialogue",
            "dialog",
            "chat",
            "utterance",
            "article",
            "problem",
            "task",
            "q",
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
        *("content", "message", "transcript", "a"),
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
JUDGING_WORDS = word_set("judge evaluator grader")
# Last words that tell the part of a text.
HEADS = {
    "input": word_set(
        "prompt question query instruction instructions input source src request utterance article"
        " problem statement task messages turns thread conversation dialogue dialog chat history ticket"
    ),
    "output": word_set(
        "output outputs response responses answer answers completion completions generation generations"
        " generated translation translations hypothesis summary summaries prediction predictions reply"
        " replies result text candidate candidates choices content message code mt hyp tgt pred"
        " patch sql story essay poem caption paraphrase rewrite"
    ),
    "reference": word_set("reference ref gold golden groundtruth expected ideal target"),
    "model": word_set("model system engine generator llm bot agent assistant chatbot"),
}
# Who speaks, in names of messages: ``customer_message``, ``bot_text``.
SPEAKERS = {
    "input": word_set("user customer client human caller patient student visitor buyer employee"),
    "output": word_set("assistant bot agent chatbot model llm ai advisor"),
}
SPOKEN = word_set("message messages msg text utterance turn content says said")
# Words at the end of a name that say nothing of what it is.
FILLERS = word_set(
    "text texts content string str body raw value message msg name path full final description parts used"
    " sentence"
)
REFERENCE_WORDS = word_set("reference ref gold golden expected ideal target truth true correct human example")
VARIANTS = word_set(
    "version variant config configuration experiment run arm branch release setup treatment condition"
    " template strategy approach method policy pipeline group candidate agent temperature shots decoding"
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
        "q",
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
    " levenshtein wer cer jaccard qe eval pred"
)
HUMAN_WORDS = word_set(
    "human humans people annotator annotators annotation expert experts manual rater raters reviewer"
    " reviewers teacher specialist sme mos csat crowd turker linguist editor mqm esa sqm da"
)
LABEL_WORDS = word_set(
    "label labels gold golden truth feedback thumbs thumb user customer vote votes upvote review likert"
    " survey nps true"
)
# Scales that people use, and that automatic metrics predict.
PEOPLES_SCALES = word_set("mos csat mqm esa sqm da")
# Lists of repeated outputs.
REPEATED = word_set("samples sample attempts trials runs repeats repetitions drafts texts rollouts")
# What models make, in names of texts.
MADE_WORDS = word_set(
    "predicted generated produced synthesized simplified corrected rewritten paraphrased rephrased pred"
)
# Names that people and judges use alike.
PLAIN_WORDS = word_set(
    "score scores rating ratings grade grades correct correctness pass passed quality overall fluency"
    " adequacy helpfulness helpful relevance relevancy coherence accuracy accurate faithfulness faithful"
    " completeness conciseness clarity consistency groundedness harmlessness safety style tone naturalness"
    " stars verdict success successful acceptable useful usefulness satisfaction judgment judgement points"
    " marks note evaluation good bad safe unsafe grounded relevant resolved solved answered appropriate"
    " polite"
    " coherent fluent adequate complete concise clear consistent harmful hallucinated toxic valid approved"
    " accepted understandable factual faithful assessment"
)
MARKS = word_set("score scores rating ratings grade grades quality overall points marks note")
LOWER_WORDS = word_set(
    "ter wer cer loss perplexity ppl error errors toxicity toxic distance nll hallucination hallucinations"
    " hallucinated harmful unsafe bad mse"
    " mae rmse violations"
)
# Words of names that are no scores, by what they look like.
NUISANCE: dict[str, frozenset[str]] = {
    "a time": word_set(
        "latency ms millis milliseconds seconds secs sec duration elapsed time timestamp ts created"
        " updated modified started finished ended runtime clock ttft tstamp minutes hours"
    ),
    "a date": word_set("date datetime day month year created_at"),
    "a number of tokens": word_set("token tokens tok toks usage"),
    "a count": word_set(
        "count counts num chars characters length len words size bytes lines sentences turns retries calls"
        " steps n"
    ),
    "a price": word_set("cost costs price usd eur dollars cents spend credits"),
    "a seed": word_set("seed"),
    "a setting": word_set("status http temperature topp topk top_p max_tokens port gpu batch"),
    "a hash": word_set("hash md5 sha sha1 sha256 checksum digest fingerprint"),
    "an index": word_set("index idx row unnamed rank order number no nr turn conv step round page"),
    "a group": word_set("cluster fold split bucket bin shard partition"),
    "an address": word_set("url uri link href ip email phone"),
    "a version": word_set("version release build commit revision"),
}
# Words for any model, which name one together with a letter or a number: ``model_a``.
ANY_MODEL = word_set("model llm assistant bot system agent candidate")
# What a model is not called, and what texts beside a model's are.
NO_MODELS = word_set(
    "model llm generated actual user assistant bot human gold golden expected reference ref ideal target"
    " correct system judge auto best predicted original source input prompt question query context title"
    " body clean"
)
# Words of numbers that sum up other columns, and of texts in which a judge says why.
SUMMARIES = word_set("mean avg average median sum total std sd stdev variance min max")
REASONS = word_set("reason reasons reasoning explanation rationale justification critique")
# Ids of these are none of items.
NO_ITEMS = word_set(
    "user customer session run rater annotator worker agent account device client org organization project"
    " job"
)
STRAYS = word_set(
    "note notes comment comments remark remarks topic title category tag tags explanation reason"
    " reasoning rationale feedback description metadata keywords context contexts passage rubric criteria"
    " guideline guidelines language lang locale author analysis thoughts thinking tools hint example examples"
    " citation citations sources evidence instructions persona name"
)
WEAK = word_set(
    "transcript text texts result results candidate content code patch sql story essay poem caption rewrite"
)
# Texts that are the input where nothing else is.
WEAK_INPUTS = word_set(
    "document doc text transcript passage context sentence original post review email content claim"
    " abstract chosen"
)
PREFERENCES = word_set(
    "winner preference preferred better best choice verdict vote outcome result label annotation decision"
)
TIES = word_set(
    "tie ties tied both neither equal draw same none 0 a=b both_bad bothbad unentschieden gleich beide ambos"
    " entrambi égalité empate pareggio gelijk 平局 引き分け"
)


SCORE_WORDS = word_set("score rating judge human grade")
# Words of names that say what a text is, and so are no models.
HEAD_WORDS = HEADS["output"] | HEADS["input"] - {"source"}
