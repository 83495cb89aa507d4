// A message that a model reads in the background: look again until it is read, at most so often.
"use strict";

const LOOKS = 20;
const SECONDS = 2;

document.addEventListener("DOMContentLoaded", () => {
    const key = `looked ${location.search}`;
    const looked = Number(sessionStorage.getItem(key) ?? 0);
    if (looked >= LOOKS) {
        document.querySelector("[data-waits]").textContent = "The worker has it still: look again later.";
        return;
    }
    sessionStorage.setItem(key, looked + 1);
    setTimeout(() => {
        // What somebody is typing or deciding just now stays.
        const isBusy = document.querySelector("dialog[open]") || document.querySelector("#id_words")?.value;
        if (!isBusy) location.reload();
    }, SECONDS * 1000);
});
