// Rankings side by side: the page has the first, the others are asked one after another; then each
// hit is told its place in the others, or why it is not there.
"use strict";

// What was typed goes along to the page that tells why something was not found.
document.addEventListener("DOMContentLoaded", () => {
    const form = document.querySelector("form.desk-ask");
    document.querySelectorAll('a[href$="/why-not/"]').forEach((tab) => {
        const address = tab.href;
        tab.addEventListener("click", () => {
            if (form.elements.query.value.trim()) {
                tab.href = `${address}?${new URLSearchParams(new FormData(form))}`;
            }
        });
    });
});

document.addEventListener("DOMContentLoaded", async () => {
    const waiting = [...document.querySelectorAll("[data-part]")];
    if (!waiting.length) return;

    const asked = async (section) => {
        const line = section.querySelector("p");
        line.textContent = "Asking…";
        try {
            const answer = await fetch(`${section.dataset.part}&part=1`);
            if (!answer.ok) throw new Error(answer.status);
            const found = document.createElement("template");
            found.innerHTML = await answer.text();
            section.replaceWith(found.content);
        } catch (error) {
            line.textContent = "It could not be asked.";
        }
    };

    const chip = (text, address) => {
        const made = document.createElement(address ? "a" : "span");
        made.className = "desk-chip desk-chip--failed";
        made.textContent = text;
        if (address) made.href = address;
        return made;
    };

    const placed = (name, place, hit, from) => {
        if (place) {
            const made = chip(`${name} ${place}`);
            made.className = "desk-chip desk-chip--done";
            return made;
        }
        const why = hit.dataset.why.replace(`ranking=${from}`, `ranking=${name}`);
        return chip(why ? `not in ${name}: why?` : `not in ${name}`, why);
    };

    const compare = () => {
        const answers = [...document.querySelectorAll("[data-ranking]")].map((section) => ({
            name: section.dataset.ranking,
            hits: [...section.querySelectorAll("[data-item]")],
        }));
        for (const one of answers) {
            for (const hit of one.hits) {
                const chips = hit.querySelector(".desk-chips");
                for (const other of answers.filter((each) => each !== one)) {
                    const at = other.hits.findIndex((each) => each.dataset.item === hit.dataset.item);
                    chips.append(placed(other.name, at + 1, hit, one.name));
                }
            }
        }
    };

    for (const section of waiting) await asked(section);
    compare();
});
