// The box below a pattern's form: shows what the pattern finds while it is written.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("pattern-trial");
    if (!box) return;
    const field = (name) => document.getElementById(`id_${name}`);
    const text = document.getElementById("trial-text");
    const speaker = document.getElementById("trial-speaker");
    const answer = document.getElementById("trial-answer");
    const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
    let timer = 0;
    let asked = 0;

    const line = (content, quiet) => {
        const row = document.createElement("div");
        row.textContent = content;
        if (quiet) row.className = "desk-quiet";
        return row;
    };

    const show = (found) => {
        const told = found.faults.map((fault) => line(fault, false));
        for (const match of found.matches) told.push(line(match.statement, false), line(match.quote, true));
        for (const other of found.instead) told.push(line(`Instead of the library's: ${other}`, true));
        answer.replaceChildren(...(told.length ? told : [line("Nothing is found.", true)]));
    };

    const ask = async () => {
        if (!text.value.trim() || !field("regex").value) return answer.replaceChildren();
        const body = new URLSearchParams({
            regex: field("regex").value,
            template: field("template").value,
            category: field("category").value,
            text: text.value,
            speaker: speaker.value,
        });
        const turn = ++asked;
        const response = await fetch(box.dataset.url, {
            method: "POST",
            body,
            headers: { "X-CSRFToken": token },
        });
        if (turn !== asked) return undefined;
        if (!response.ok) return answer.replaceChildren(line("It could not be tried.", false));
        return show(await response.json());
    };

    const soon = () => {
        window.clearTimeout(timer);
        timer = window.setTimeout(ask, 250);
    };

    for (const each of [field("regex"), field("template"), field("category"), text, speaker]) {
        each.addEventListener("input", soon);
        each.addEventListener("change", soon);
    }
    if (!text.value) text.value = field("examples").value;
    soon();
});
