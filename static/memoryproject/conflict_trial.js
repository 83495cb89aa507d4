// The box below a slot's or change word's form: what becomes of two statements while it is written.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("conflict-trial");
    if (!box) return;
    const fields = ["regex", "verbs", "ended"]
        .map((name) => document.getElementById(`id_${name}`))
        .filter((field) => field);
    const before = document.getElementById("trial-before");
    const after = document.getElementById("trial-after");
    const answer = document.getElementById("trial-answer");
    const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
    const url = box.dataset.url;
    let timer = 0;
    let asked = 0;

    const line = (content, quiet) => {
        const row = document.createElement("div");
        row.textContent = content;
        if (quiet) row.className = "desk-quiet";
        return row;
    };

    const ask = async () => {
        if (!before.value.trim() || !after.value.trim()) return answer.replaceChildren();
        const body = new URLSearchParams({ before: before.value, after: after.value });
        for (const field of fields) body.set(field.name, field.value);
        const turn = ++asked;
        const response = await fetch(url, { method: "POST", body, headers: { "X-CSRFToken": token } });
        if (turn !== asked) return undefined;
        if (!response.ok) return answer.replaceChildren(line("It could not be tried.", false));
        const found = await response.json();
        const lines = found.faults.map((fault) => line(fault, false));
        lines.push(...found.lines.map((each, place) => line(each, place > 0)));
        return answer.replaceChildren(...lines);
    };

    const soon = () => {
        window.clearTimeout(timer);
        timer = window.setTimeout(ask, 250);
    };

    for (const each of [...fields, before, after]) {
        each.addEventListener("input", soon);
        each.addEventListener("change", soon);
    }
});
