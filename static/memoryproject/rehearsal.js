// Below a rule's form: what it would have changed in the last week, asked for before it is saved.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("rule-rehearsal");
    if (!box) return;
    const button = box.querySelector("button");
    const answer = document.getElementById("rehearsal-answer");
    const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
    const names = ["workspace", "name", "category", "regex", "template", "verbs", "ended"];

    const line = (content, quiet) => {
        const row = document.createElement("div");
        row.textContent = content;
        if (quiet) row.className = "desk-quiet";
        return row;
    };

    button.addEventListener("click", async () => {
        const body = new URLSearchParams({ pk: box.dataset.pk });
        for (const name of names) {
            const field = document.getElementById(`id_${name}`);
            if (field) body.set(name, field.value);
        }
        const enabled = document.getElementById("id_enabled");
        if (enabled) body.set("enabled", String(enabled.checked));
        button.disabled = true;
        answer.replaceChildren(line(box.dataset.wait, true));
        const response = await fetch(box.dataset.url, { method: "POST", body, headers: { "X-CSRFToken": token } });
        button.disabled = false;
        if (!response.ok) return answer.replaceChildren(line(box.dataset.failed, false));
        const found = await response.json();
        const told = found.faults.length ? found.faults : [found.told];
        return answer.replaceChildren(...told.map((each) => line(each, false)), ...found.lines.map((each) => line(each, true)));
    });
});
