"use strict";
(() => {
  const tables = [...document.querySelectorAll("#board, #others, #stops")];
  const body = document.getElementById("board").tBodies[0];
  const count = document.getElementById("count");

  const valueOf = (row, place) => {
    const text = row.children[place].dataset.value;
    return place === 0 ? text : text === "" ? NaN : Number(text);
  };
  const sortBy = (table, heads, head) => {
    const place = heads.indexOf(head);
    const before = head.getAttribute("aria-sort");
    const down = before === "none" ? head.dataset.first === "descending" : before === "ascending";
    for (const other of heads) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const sign = down ? -1 : 1;
    const compare = (a, b) => {
      const [x, y] = [valueOf(a, place), valueOf(b, place)];
      if (place === 0) return sign * x.localeCompare(y);
      // What is not known comes last, whichever way the rest is sorted.
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return sign * (x - y);
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
  };
  for (const table of tables) {
    const heads = [...table.querySelectorAll("th[aria-sort]")];
    for (const head of heads) {
      head.querySelector("button").addEventListener("click", () => sortBy(table, heads, head));
    }
  }

  const filter = document.getElementById("filter");
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const row of tables.flatMap((table) => [...table.tBodies[0].rows])) {
      const name = row.children[0].dataset.value.toLowerCase();
      row.hidden = !words.every((word) => name.includes(word));
    }
    const shown = [...body.rows].filter((row) => !row.hidden).length;
    count.textContent = `${shown} of ${body.rows.length} entries`;
  });

  const colours = 7;
  const boxes = [...body.querySelectorAll("input[type=checkbox]")];
  const drawn = boxes.filter((box) => box.checked).map((box) => box.value);
  const show = (entry, place) => {
    for (const line of document.querySelectorAll(`[data-entry="${entry}"]`)) {
      line.toggleAttribute("hidden", place < 0);
      const stroke = line.matches(".line") ? line : line.querySelector(".line");
      stroke.setAttribute("class", `line c${place % colours} d${Math.floor(place / colours) % 3}`);
    }
  };
  for (const box of boxes) {
    box.addEventListener("change", () => {
      // A line keeps its colour until it is taken away; the next one takes the first that is free.
      const at = box.checked ? [...drawn, null].findIndex((held) => held === null) : drawn.indexOf(box.value);
      drawn[at] = box.checked ? box.value : null;
      show(box.value, box.checked ? at : -1);
    });
  }
  document.getElementById("controls").hidden = false;
})();
