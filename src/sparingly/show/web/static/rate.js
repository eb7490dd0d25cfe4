// The page of a rater: slider and number together, choices by single keys, errors marked by keyboard or mouse,
// drafts saved as one types, active time measured, and an answer that could not be sent is sent again.
"use strict";

(() => {
  // What gets the focus first; a phone's keyboard is never opened unasked.
  const FIRST = ".markable, input[type=number], input[type=radio]:checked, input[type=radio]";
  const focusOn = (card) => {
    const field = card.querySelector(FIRST);
    if (field && matchMedia("(pointer: fine)").matches) field.focus({ preventScroll: true });
  };
  const IDLE = 60, MOMENT = 400, WAIT = 800, AGAIN = 1000, MOST_AGAIN = 30000;
  let form, timer, saving = Promise.resolve(), seconds, active, again, waiting = false;

  const letters = (words) => Array.from(words);
  // The texts in the language of the page; English where there is no other.
  let dictionary = {};
  const tr = (words) => dictionary[words] || words;
  const say = (words) => {
    const place = document.getElementById("said");
    if (place) place.textContent = words;
  };

  // --- time: only while the page is seen and somebody moves ---
  const tick = () => {
    if (form && !document.hidden && Date.now() - active < IDLE * 1000) seconds += 1;
  };
  const stir = () => { active = Date.now(); };
  setInterval(tick, 1000);
  for (const kind of ["keydown", "pointerdown", "pointermove", "scroll", "input"]) {
    document.addEventListener(kind, stir, { passive: true, capture: true });
  }
  // An answer that is sent again is the same answer: its time does not grow.
  const note = () => { if (!waiting) form.elements.seconds.value = String(seconds); };

  // --- drafts ---
  const save = (last) => {
    clearTimeout(timer);
    timer = undefined;
    note();
    const sent = fetch(form.dataset.draft, {
      method: "POST", body: new URLSearchParams(new FormData(form)), credentials: "same-origin", keepalive: last,
    });
    saving = sent.then(told, () => unkept(tr("No connection: the draft is not saved yet.")));
  };
  const unkept = (words) => {
    say(words);
    if (!timer && !waiting) timer = setTimeout(save, 5 * AGAIN, false);
  };
  const told = (answer) => {
    if (answer.ok) say(tr("Draft saved."));
    else if (answer.status >= 500 || answer.status === 429) unkept(tr("The server is busy: the draft is not saved yet."));
    else if (answer.status === 401) say(tr("Your session has ended, and drafts are not saved. Open your link again."));
    else if ([403, 404].includes(answer.status)) say(tr("This page is out of date, and drafts are not saved. Load it again."));
    else say("");
  };
  const later = () => { waiting = false; clearTimeout(timer); timer = setTimeout(save, WAIT, false); };
  document.addEventListener("visibilitychange", () => { if (document.hidden && form && timer) save(true); });

  // --- numbers; a slider that was let go is an answer, after a moment in which it can be moved again ---
  let leaving;
  const pause = () => { clearTimeout(leaving); leaving = setTimeout(() => form && advance(), MOMENT); };
  document.addEventListener("pointerdown", () => clearTimeout(leaving), { capture: true });
  const slider = (range) => {
    const number = document.getElementById(range.dataset.number);
    const told = () => range.setAttribute("aria-valuetext", number.value === "" ? tr("not set") : number.value);
    const set = () => { number.value = range.value; range.classList.remove("unset"); told(); };
    range.addEventListener("input", set);
    // A click where the unseen thumb lies changes nothing, and is an answer all the same.
    range.addEventListener("pointerup", () => { set(); later(); pause(); });
    number.addEventListener("input", () => {
      range.classList.toggle("unset", number.value === "");
      if (number.value !== "") range.value = number.value;
      told();
    });
    told();
  };

  document.addEventListener("click", (event) => {
    const anchor = event.target.closest("[data-score]");
    if (!anchor || !form) return;
    const number = document.getElementById(anchor.dataset.number);
    number.value = anchor.dataset.score;
    number.dispatchEvent(new Event("input", { bubbles: true }));
    pause();
  });

  // --- choices: a key or a click answers, and where nothing is left to say the page is sent ---
  const cards = () => [...form.querySelectorAll(".output")];
  const skipped = (card) => Boolean(card.querySelector("[name^='skip:']").value);
  const groups = () => cards().filter((card) => !skipped(card))
    .flatMap((card) => [...card.querySelectorAll("fieldset.choices")]);
  const open = () => groups().filter((group) => !group.querySelector(":checked"));
  const missing = () => [
    ...open(),
    ...[...form.querySelectorAll(".output:not(.skipped) :is(input[type=number], [data-place] + input)")].filter((field) => field.value === ""),
  ];
  const current = () => {
    const here = document.activeElement && document.activeElement.closest("fieldset.choices");
    if (here && form.contains(here)) return here;
    const shown = groups().filter((group) => !group.closest("[hidden]"));
    return open().find((group) => !group.closest("[hidden]")) || shown[shown.length - 1];
  };
  const commented = () => cards().some((card) => card.querySelector("details.comment[open]"));
  const advance = () => {
    if (!("advances" in form.dataset)) {
      // Several answers are looked at before they are sent: the next one gets the keys.
      const next = open().find((group) => !group.closest("[hidden]"));
      if (next) next.querySelector("input").focus();
      return;
    }
    if (commented()) return;
    const [next] = missing();
    if (!next) form.requestSubmit();
    else if (!placed().length) goTo(next.closest(".output"));
  };
  // --- an order: the outputs are pressed, the best first; of the numbers that are sent only the order counts ---
  let tied = false;
  const placed = () => [...form.querySelectorAll(".output:not(.skipped) [data-place] + input")];
  const places = () => {
    const given = placed().filter((field) => field.value !== "").map((field) => Number(field.value));
    for (const field of placed()) {
      const button = field.previousElementSibling, rank = given.filter((one) => one > Number(field.value)).length + 1;
      button.setAttribute("aria-pressed", String(field.value !== ""));
      button.querySelector("b").textContent = field.value === "" ? "" : String(rank);
    }
    for (const button of form.querySelectorAll("[data-tie]")) button.setAttribute("aria-pressed", String(tied));
    return given;
  };
  const put = (button) => {
    const field = button.nextElementSibling, given = places();
    field.value = field.value !== "" ? "" : String(tied && given.length ? Math.min(...given) : Math.min(0, ...given) - 1);
    tied = false;
    places();
    say(`${button.closest(".output").querySelector("h2").textContent}: ${button.querySelector("b").textContent || tr("no place")}`);
    later();
    pause();
  };
  const tie = () => { tied = !tied; places(); };
  const unplace = () => {
    const least = Math.min(...places());
    put(placed().find((field) => field.value !== "" && Number(field.value) === least).previousElementSibling);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-place]");
    if (button && form) put(button);
  });

  const choose = (radio) => {
    if (!radio) return;
    radio.checked = true;
    radio.dispatchEvent(new Event("input", { bubbles: true }));
    advance();
  };
  const writes = (element) => element.matches("textarea, select, input:not([type=radio]), .markable");
  const keys = (event) => {
    if (!form || event.ctrlKey || event.metaKey || event.altKey || writes(event.target)) return;
    // A long text that has the focus is scrolled by the arrows.
    if (event.target.matches(".text") && event.key === "ArrowDown") return;
    const ranked = [...form.querySelectorAll("[data-place]")].find((button) => button.querySelector("kbd").textContent === event.key.toUpperCase());
    const group = current();
    const arrows = { ArrowLeft: 0, ArrowDown: 1, ArrowRight: 2 };
    const place = group && group.classList.contains("versus") ? arrows[event.key] : Number(event.key) - 1;
    if (group && place >= 0 && group.querySelectorAll("input")[place]) choose(group.querySelectorAll("input")[place]);
    else if (ranked) put(ranked);
    else if (event.key === "=" && placed().length) tie();
    else if (event.key === "Backspace" && placed().some((field) => field.value !== "")) unplace();
    else if (event.key === "Backspace" && "advances" in form.dataset) {
      const previous = document.getElementById("previous");
      if (!previous) return;
      previous.click();
    } else if (event.key.toLowerCase() === "d" && form.querySelector("[data-differ]")) {
      form.querySelectorAll("[data-differ]").forEach((button) => button.click());
    } else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", keys);
  document.addEventListener("click", (event) => {
    if (!form || !form.contains(event.target)) return;
    const side = event.target.closest("[data-choose]");
    // Whoever selects letters of a text does not choose it.
    if (side && document.getSelection().isCollapsed && !event.target.closest("a, button, summary")) {
      choose(side.closest(".output").querySelector(`.versus [value="${side.dataset.choose}"]`));
    } else if (event.detail > 0 && event.target.matches("fieldset.choices input")) advance();
  });
  const skipping = (card) => {
    const required = card.querySelectorAll("input[required], input[data-required]");
    for (const input of required) {
      input.dataset.required = "";
      input.required = !skipped(card);
    }
    card.classList.toggle("skipped", skipped(card));
  };

  // --- one output at a time ---
  const show = (card) => {
    if (!("one" in form.dataset)) return;
    const all = cards(), place = all.indexOf(card);
    all.forEach((one) => { one.hidden = one !== card; });
    form.querySelector("#send").hidden = place < all.length - 1;
    const [back, on] = form.querySelectorAll("[data-step]");
    back.hidden = place === 0;
    on.hidden = place === all.length - 1;
  };
  const goTo = (card) => {
    show(card);
    card.scrollIntoView({ block: "nearest" });
    focusOn(card);
  };
  const steps = () => {
    if (!("one" in form.dataset)) return;
    const row = form.querySelector(".send");
    for (const [step, words] of [[-1, tr("Previous output")], [1, tr("Next output")]]) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.step = step;
      button.textContent = words;
      if (step > 0) button.className = "primary";
      button.addEventListener("click", () => {
        const all = cards(), place = all.findIndex((one) => !one.hidden);
        const inputs = all[place].querySelectorAll("input");
        if (step > 0 && [...inputs].some((input) => !input.reportValidity())) return;
        goTo(all[place + step]);
      });
      row.append(button);
    }
    row.append(form.querySelector("#send"));
    show(cards().find((card) => card.querySelector("input:invalid")) || cards()[0]);
  };

  // --- the words in which two outputs differ (longest common subsequence), on demand ---
  const differ = (button) => {
    const output = button.closest(".output"), on = button.getAttribute("aria-pressed") !== "true";
    const texts = [...output.querySelectorAll(".side .text:not(.markdown)")];
    if (texts.length !== 2) { say(tr("These texts cannot be compared word by word.")); return; }
    button.setAttribute("aria-pressed", String(on));
    const words = texts.map((text) => text.textContent.match(/\s+|[\p{L}\p{N}\p{M}]+|[^\s]/gu) || []);
    const [left, right] = words;
    if (!on || left.length * right.length > 4e6) {
      texts.forEach((text) => { text.textContent = text.textContent; });
      if (on) say(tr("These texts are too long to be compared."));
      return;
    }
    const width = right.length + 1, table = new Uint32Array((left.length + 1) * width);
    for (let i = left.length - 1; i >= 0; i -= 1) {
      for (let j = right.length - 1; j >= 0; j -= 1) {
        table[i * width + j] = left[i] === right[j]
          ? table[(i + 1) * width + j + 1] + 1
          : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
      }
    }
    const same = [new Set(), new Set()];
    for (let i = 0, j = 0; i < left.length && j < right.length;) {
      if (left[i] === right[j]) { same[0].add(i); same[1].add(j); i += 1; j += 1; }
      else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i += 1;
      else j += 1;
    }
    texts.forEach((text, side) => {
      text.replaceChildren(...words[side].map((word, place) => {
        if (same[side].has(place) || !word.trim()) return document.createTextNode(word);
        const shown = document.createElement("ins");
        shown.className = "differs";
        shown.textContent = word;
        return shown;
      }));
    });
  };

  // --- long texts side by side scroll together; outputs are put in order ---
  const together = () => {
    const isLong = (box) => box.scrollHeight > box.clientHeight + 1;
    // Whoever has no mouse scrolls a long text by its focus.
    [...document.querySelectorAll(".said > .text")].filter(isLong).forEach((box) => { box.tabIndex = 0; });
    const long = [...document.querySelectorAll(".pair .text, .contrastive .said > .text")].filter(isLong);
    const moved = new Set();
    for (const box of long) {
      box.addEventListener("scroll", () => {
        if (moved.delete(box)) return;
        const share = box.scrollTop / (box.scrollHeight - box.clientHeight);
        for (const other of long.filter((one) => one !== box)) {
          const before = other.scrollTop;
          other.scrollTop = share * (other.scrollHeight - other.clientHeight);
          if (other.scrollTop !== before) moved.add(other);
        }
      });
    }
  };
  const order = () => {
    const score = (card) => {
      const value = card.querySelector("input[type=number]").value;
      return value === "" ? -Infinity : Number(value);
    };
    const sorted = cards().sort((one, other) => score(other) - score(one) || 0);
    form.querySelector(".outputs").append(...sorted);
    say(`${tr("Best first")}: ${sorted.map((card) => card.querySelector("h2").textContent).join(", ")}.`);
  };
  const sorting = () => {
    const more = { contrastive: ["order", tr("Best first"), order], ranking: ["tie", tr("The next one is as good"), tie] };
    if (!(form.dataset.form in more)) return;
    const button = document.createElement("button"), [kind, words, action] = more[form.dataset.form];
    button.type = "button";
    button.dataset[kind] = "";
    button.textContent = words;
    button.addEventListener("click", action);
    if (kind === "tie") places();
    form.querySelector(".send").prepend(button);
  };

  // --- errors marked in a text: letters are code points, the end is not included ---
  const marking = (block) => {
    const list = block.querySelector(".marks"), field = block.querySelector("input[type=hidden]");
    // The output, and the source, in which marks say what is left out.
    const panels = [...block.querySelectorAll(".markable")].map((text) => ({
      text, all: letters(text.textContent), source: "source" in text.dataset,
    }));
    const panelOf = (mark) => panels.find((panel) => panel.source === Boolean(mark.in_source)) || panels[0];
    const wordsOf = (mark) => panelOf(mark).all.slice(mark.start, mark.end).join("");
    let marks = JSON.parse(field.value);
    const past = [];

    const place = (panel, node, offset) => {
      const range = document.createRange();
      range.setStart(panel.text, 0);
      range.setEnd(node, offset);
      return letters(range.toString()).length;
    };
    const selected = () => {
      const chosen = document.getSelection();
      const panel = panels.find(({ text }) =>
        chosen.rangeCount && text.contains(chosen.anchorNode) && text.contains(chosen.focusNode));
      if (!panel) return null;
      const ends = [[chosen.anchorNode, chosen.anchorOffset], [chosen.focusNode, chosen.focusOffset]];
      const [start, end] = ends.map((spot) => place(panel, ...spot)).sort((one, other) => one - other);
      return { panel, start, end };
    };
    const caret = (panel, at) => {
      const walker = document.createTreeWalker(panel.text, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const inside = letters(node.data);
        if (at <= inside.length) {
          document.getSelection().collapse(node, inside.slice(0, at).join("").length);
          return;
        }
        at -= inside.length;
      }
    };
    const piece = (panel, start, end, mark) => {
      const words = document.createTextNode(panel.all.slice(start, end).join(""));
      if (!mark) return words;
      const shown = document.createElement("mark");
      shown.className = mark.severity;
      shown.append(words);
      return shown;
    };
    const remark = (mark) => {
      const input = document.createElement("input");
      input.type = "text";
      input.maxLength = 500;
      input.value = mark.comment || "";
      input.placeholder = tr("Comment");
      input.className = "remark";
      input.setAttribute("aria-label", `${tr("Comment")}: ${wordsOf(mark).slice(0, 60)}`);
      input.addEventListener("input", () => {
        mark.comment = input.value;
        field.value = JSON.stringify(marks);
      });
      return input;
    };
    const categories = JSON.parse(form.dataset.categories);
    const category = (mark, words) => {
      const chosen = document.createElement("select");
      chosen.required = true;
      chosen.setAttribute("aria-label", `${tr("Category")}: ${words.slice(0, 60)}`);
      for (const name of ["", ...categories]) {
        chosen.add(new Option(name || tr("Category"), name, false, name === (mark.category || "")));
      }
      chosen.addEventListener("change", () => {
        mark.category = chosen.value;
        field.value = JSON.stringify(marks);
      });
      return chosen;
    };
    const row = (mark) => {
      const line = document.createElement("li"), words = document.createElement("bdi");
      const kind = document.createElement("span"), away = document.createElement("button");
      kind.className = `severity ${mark.severity}`;
      kind.textContent = mark.in_source ? `${tr(mark.severity)} · ${tr("left out")}` : tr(mark.severity);
      words.textContent = wordsOf(mark);
      away.type = "button";
      away.className = "plain";
      away.textContent = tr("Take away");
      away.setAttribute("aria-label", `${tr("Take away")}: ${tr(mark.severity)}, ${words.textContent.slice(0, 60)}`);
      away.addEventListener("click", () => change(marks.filter((one) => one !== mark), tr("Mark taken away.")));
      const kinds = categories.length ? [category(mark, words.textContent)] : [];
      line.append(kind, " ", words, " ", ...kinds, " ", remark(mark), " ", away);
      return line;
    };
    const show = () => {
      for (const panel of panels) {
        panel.text.replaceChildren();
        let end = 0;
        for (const mark of marks.filter((one) => panelOf(one) === panel)) {
          if (mark.start > end) panel.text.append(piece(panel, end, mark.start));
          panel.text.append(piece(panel, mark.start, mark.end, mark));
          end = mark.end;
        }
        if (end < panel.all.length) panel.text.append(piece(panel, end, panel.all.length));
      }
      list.replaceChildren(...marks.map(row));
      field.value = JSON.stringify(marks);
    };
    const change = (next, words, panel, at) => {
      past.push(marks);
      marks = next.sort((one, other) => one.start - other.start);
      show();
      if (panel) { panel.text.focus(); caret(panel, at); }
      say(words);
      later();
    };
    const put = (severity) => {
      const ends = selected();
      if (!ends || ends.start === ends.end) { say(tr("Select letters of the text first.")); return; }
      let { panel, start, end } = ends;
      // Blanks at the ends are no part of an error.
      while (start < end - 1 && panel.all[start].trim() === "") start += 1;
      while (end > start + 1 && panel.all[end - 1].trim() === "") end -= 1;
      const rest = marks.filter((one) => panelOf(one) !== panel || one.end <= start || one.start >= end);
      const mark = panel.source ? { start, end, severity, in_source: true } : { start, end, severity };
      change([...rest, mark], `${tr("Marked:")} ${tr(severity)}.`, panel, end);
    };
    const take = () => {
      const ends = selected();
      if (!ends) return;
      const rest = marks.filter((one) =>
        panelOf(one) !== ends.panel || one.end < ends.start || one.start > ends.end);
      if (rest.length < marks.length) change(rest, tr("Mark taken away."), ends.panel, ends.start);
    };
    const undo = () => {
      if (!past.length) { say(tr("Nothing to undo.")); return; }
      marks = past.pop();
      show();
      say(tr("Undone."));
      later();
    };

    // The texts can be walked through like any other, and never changed.
    for (const { text } of panels) {
      for (const kind of ["beforeinput", "paste", "cut", "drop", "dragstart"]) {
        text.addEventListener(kind, (event) => event.preventDefault());
      }
      text.addEventListener("input", show);
      text.addEventListener("compositionend", show);
      text.addEventListener("keydown", (event) => {
        const held = event.ctrlKey || event.metaKey, buttons = block.querySelectorAll("[data-severity]");
        const number = Number(event.key);
        if (!held && !event.altKey && number >= 1 && number <= buttons.length) put(buttons[number - 1].dataset.severity);
        else if (event.key === "Delete" || event.key === "Backspace") take();
        else if (held && event.key.toLowerCase() === "z") undo();
        else return;
        event.preventDefault();
      });
    }
    for (const button of block.querySelectorAll("[data-severity]")) {
      // The selection must not go away before the click arrives.
      button.addEventListener("pointerdown", (event) => event.preventDefault());
      button.addEventListener("click", () => put(button.dataset.severity));
    }
    block.querySelector("[data-undo]").addEventListener("click", undo);
    show();
  };

  // --- a page that has come ---
  const begin = (focus) => {
    form = document.getElementById("judge");
    if (!form) return;
    dictionary = JSON.parse(form.dataset.texts);
    seconds = Number(form.dataset.seconds) || 0;
    again = AGAIN;
    waiting = false;
    stir();
    form.querySelectorAll("input[type=range]").forEach(slider);
    form.querySelectorAll(".marking").forEach(marking);
    form.querySelectorAll("[data-differ]").forEach((button) => button.addEventListener("click", () => differ(button)));
    cards().forEach(skipping);
    form.addEventListener("change", (event) => {
      if (event.target.matches("[name^='skip:']")) skipping(event.target.closest(".output"));
    });
    steps();
    sorting();
    together();
    form.addEventListener("input", later);
    form.addEventListener("submit", note);
    const [first] = cards().filter((card) => !card.hidden);
    if (focus && first) focusOn(first);
  };

  document.addEventListener("keydown", (event) => {
    if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      const on = form.querySelector("[data-step='1']:not([hidden])");
      if (on) on.click();
      else form.requestSubmit();
    }
  });
  // A draft that is under way arrives before the answer, not after it.
  document.addEventListener("htmx:confirm", (event) => {
    if (event.target !== form) return;
    event.preventDefault();
    clearTimeout(timer);
    timer = undefined;
    note();
    waiting = true;
    saving.then(() => event.detail.issueRequest(true));
  });
  const retry = (words) => {
    say(`${words} ${tr("Trying again …")}`);
    const own = form;
    setTimeout(() => { if (form === own) form.requestSubmit(); }, again);
    again = Math.min(2 * again, MOST_AGAIN);
  };
  document.addEventListener("htmx:sendError", () => retry(tr("No connection: your answer is not sent yet.")));
  document.addEventListener("htmx:responseError", (event) => {
    const status = event.detail.xhr.status;
    if (status >= 500 || status === 429) retry(tr("The server is busy: your answer is not sent yet."));
    else if (status === 401) say(tr("Your session has ended. Open your link again: the last draft is saved."));
    else say(tr("This page is out of date. Load it again: the last draft is saved."));
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "main") return;
    begin(true);
    if (form) say(document.querySelector(".warning") ? "" : tr("Saved."));
  });
  begin(true);
})();
