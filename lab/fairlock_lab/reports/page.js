// SPDX-License-Identifier: Apache-2.0
"use strict";
// Draw the figures in the colours of the reader's theme, as wide as their elements, and without the hidden locks.

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const hidden = new Set();
  const drawn = new Map(); // element -> the result of vegaEmbed
  const AXIS = 56, GAP = 18; // pixels, for small figures side by side

  const swap = (text, colours) => text.replace(/#[0-9a-f]{6}\b/g, (colour) => colours[colour] ?? colour);

  function specification(name, width, excess = 0) {
    // The buttons at the top are the key of all figures. Wide figures have a legend too.
    const keyed = width > 600 && !data.figures[name].facet;
    const plain = JSON.stringify(data.figures[name], (key, value) => (key === "legend" && !keyed ? null : value));
    const spec = JSON.parse(dark.matches ? swap(plain, data.dark) : plain);
    if (spec.facet) {
      // Only the first column shows the names of rows.
      const names = spec.spec.height.step ? 130 : AXIS;
      const panels = new Set(spec.data.values.map((row) => row[spec.facet.field])).size;
      const narrowest = spec.spec.height > 150 ? 240 : width < 500 ? 112 : 168;
      const fit = Math.max(1, Math.floor((width - names + GAP) / (narrowest + GAP)));
      spec.columns = Math.min(fit, panels);
      const share = (width - names - (spec.columns - 1) * GAP) / spec.columns - 4;
      spec.spec.width = Math.max(80, Math.min(Math.floor(share) - Math.ceil(excess / spec.columns), 420));
      spec.facet.header.labelLimit = spec.spec.width;
    }
    return spec;
  }

  async function draw(place) {
    const name = place.dataset.figure;
    const spec = specification(name, place.clientWidth);
    drawn.get(place)?.finalize();
    let result = await embed(place, name, spec);
    const excess = place.querySelector("svg").width.baseVal.value - place.clientWidth;
    if (spec.facet && excess > 0) {
      // The axis was wider than expected.
      result.finalize();
      result = await embed(place, name, specification(name, place.clientWidth, excess));
    }
    drawn.set(place, result);
    place.dataset.width = place.clientWidth;
    if (hidden.size) await result.view.signal("hidden", [...hidden]).runAsync();
  }

  const embed = (place, name, spec) =>
    vegaEmbed(place, spec, {
      config: { ...(dark.matches ? data.configs.dark : data.configs.light), background: null },
      renderer: "svg",
      logLevel: 1, // errors only: a figure without visible locks causes warnings
      actions: { export: true, source: false, compiled: false, editor: false },
      downloadFileName: name,
      tooltip: { theme: dark.matches ? "dark" : "light", formatTooltip: tip },
    });

  // A row with a label gets a short tooltip. For other rows, the figure has already chosen the fields.
  function tip(value, clean) {
    const { label, threads, median, quartiles, runs } = value;
    const rows = label === undefined ? value : { lock: label, threads, median, quartiles, runs };
    const line = ([key, text]) =>
      `<tr><td class="key">${clean(key)}</td><td class="value">${clean(String(text))}</td></tr>`;
    return `<table><tbody>${Object.entries(rows).map(line).join("")}</tbody></table>`;
  }

  const places = () => [...document.querySelectorAll(".plot")].filter((place) => place.clientWidth > 0);

  let pass = 0;
  async function drawAll(which = () => true) {
    const current = ++pass;
    delete document.documentElement.dataset.ready;
    for (const place of places().filter(which)) {
      await draw(place);
      await new Promise((done) => setTimeout(done)); // let the page respond
      if (current !== pass) return; // the theme or the width changed again
    }
    document.documentElement.dataset.ready = "yes";
  }

  // --- hiding locks ---

  const chips = [...document.querySelectorAll(".chips button[data-lock]")];

  async function apply() {
    for (const chip of chips) chip.setAttribute("aria-pressed", String(!hidden.has(chip.dataset.lock)));
    await Promise.all([...drawn.values()].map(({ view }) => view.signal("hidden", [...hidden]).runAsync()));
  }

  for (const chip of chips) {
    const lock = chip.dataset.lock;
    chip.addEventListener("click", () => {
      hidden.has(lock) ? hidden.delete(lock) : hidden.add(lock);
      apply();
    });
    chip.addEventListener("dblclick", () => {
      hidden.clear();
      chips.filter((other) => other !== chip).forEach((other) => hidden.add(other.dataset.lock));
      apply();
    });
  }
  document.querySelector(".chips .all")?.addEventListener("click", () => {
    hidden.clear();
    apply();
  });
  document.querySelector(".chips .none")?.addEventListener("click", () => {
    chips.forEach((chip) => hidden.add(chip.dataset.lock));
    apply();
  });

  // A click on a legend does the same as the button of the lock.
  document.addEventListener("click", (event) => {
    const entry = event.target.closest?.(".role-legend-label text, .role-legend-symbol path");
    const place = entry?.closest(".plot");
    if (!place) return;
    const legend = entry.closest(".role-legend");
    const row = [...legend.querySelectorAll(`.${entry.parentNode.classList[1]} > *`)].indexOf(entry);
    const label = legend.querySelectorAll(".role-legend-label text")[row].textContent;
    const lock = data.figures[place.dataset.figure].data.values.find((value) => value.label === label)?.lock;
    chips.find((chip) => chip.dataset.lock === lock)?.click();
  });

  // --- the table of samples, built when a reader unfolds it ---

  document.getElementById("samples")?.addEventListener(
    "toggle",
    (event) => {
      const table = event.target.querySelector("table");
      const body = table.createTBody();
      for (const row of data.samples) {
        const line = body.insertRow();
        for (const value of row) line.insertCell().textContent = value ?? "";
      }
    },
    { once: true },
  );

  // --- theme, width, paper ---

  dark.addEventListener("change", () => drawAll());

  let timer;
  addEventListener("resize", () => {
    clearTimeout(timer);
    const resized = (place) =>
      Math.abs(place.clientWidth - place.dataset.width) > 8 && data.figures[place.dataset.figure].facet;
    timer = setTimeout(() => places().some(resized) && drawAll(resized), 250);
  });

  document.addEventListener(
    "toggle",
    (event) => event.target.open && drawAll((place) => event.target.contains(place) && !drawn.has(place)),
    true,
  );

  // Paper is white: figures on a dark page get the light colours while the page is printed.
  const recolour = (colours) => {
    for (const mark of document.querySelectorAll(".plot svg [fill], .plot svg [stroke]")) {
      for (const name of ["fill", "stroke"]) {
        const colour = mark.getAttribute(name);
        if (colour && colours[colour.toLowerCase()]) mark.setAttribute(name, colours[colour.toLowerCase()]);
      }
    }
  };
  const invert = (colours) => Object.fromEntries(Object.entries(colours).map(([light, other]) => [other, light]));
  const everything = { ...data.dark, ...data.neutral };
  addEventListener("beforeprint", () => dark.matches && recolour(invert(everything)));
  addEventListener("afterprint", () => dark.matches && recolour(everything));

  drawAll();
})();
