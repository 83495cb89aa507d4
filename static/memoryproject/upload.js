// Files that are dropped are sent two at a time, each with its progress, and followed until they are read.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
    const drop = document.getElementById("drop");
    if (!drop) return;
    const picker = document.createElement("input");
    Object.assign(picker, { type: "file", multiple: true, id: "files" });
    picker.hasChangeListener = true; // unfold would look for a field beside it that shows a path
    drop.prepend(picker);
    const list = document.getElementById("sent");
    const sum = document.getElementById("sum");
    const said = document.getElementById("said");
    const token = said.querySelector("[name=csrfmiddlewaretoken]").value;
    const field = (name) => document.getElementById(`id_${name}`).value.trim();
    const AT_ONCE = 2;
    const FOLLOWED = 600; // seconds; what takes longer is told by its page
    const waiting = [];
    const counts = { sent: 0, read: 0, failed: 0, all: 0 };
    let busy = 0;

    const tally = () => {
        const parts = [`${counts.sent} of ${counts.all} handed in`, `${counts.read} read`];
        if (counts.failed) parts.push(`${counts.failed} failed`);
        sum.textContent = parts.join(", ");
    };

    const sent = () => {
        counts.sent += 1;
        tally();
    };

    const rowOf = (file) => {
        if (!counts.all) list.replaceChildren();
        const row = document.createElement("div");
        const name = document.createElement("a");
        const state = document.createElement("span");
        const bar = document.createElement("progress");
        name.className = "desk-strong";
        name.textContent = file.name;
        state.className = "desk-small desk-quiet";
        state.textContent = " waits";
        bar.max = 1;
        bar.value = 0;
        bar.setAttribute("aria-label", file.name);
        row.append(name, state, bar);
        list.append(row);
        return { row, name, state, bar };
    };

    const tell = (shown, text, outcome) => {
        shown.state.textContent = ` ${text}`;
        if (!outcome) return;
        counts[outcome] += 1;
        shown.bar.remove();
        tally();
    };

    const problem = (answer) =>
        [answer?.detail ?? "", ...(answer?.errors ?? []).map((each) => each.message)].filter(Boolean).join(" ") || "refused";

    const follow = async (shown, url) => {
        for (let pause = 1, spent = 0; spent < FOLLOWED; spent += pause, pause = Math.min(10, pause * 1.5)) {
            await new Promise((done) => setTimeout(done, pause * 1000));
            let answer;
            try {
                answer = await (await fetch(url, { headers: { Accept: "application/json" } })).json();
            } catch {
                continue;
            }
            if (answer.status === "completed") {
                const pages = answer.pages ? `, ${answer.pages} pages` : "";
                return tell(shown, `read${pages}${answer.warnings.length ? ", with parts left out" : ""}`, "read");
            }
            if (answer.status === "failed") return tell(shown, `${answer.errorCode}: ${answer.reason}`, "failed");
            tell(shown, answer.step);
        }
    };

    const send = ({ file, shown, about, url }) =>
        new Promise((done) => {
            const body = new FormData();
            body.append("file", file);
            body.append("document", JSON.stringify(about));
            const request = new XMLHttpRequest();
            request.open("POST", url);
            request.setRequestHeader("X-CSRFToken", token);
            request.upload.onprogress = (event) => {
                shown.bar.value = event.total ? event.loaded / event.total : 0;
                tell(shown, `${Math.round(shown.bar.value * 100)} %`);
            };
            request.onerror = () => {
                tell(shown, "the connection was lost", "failed");
                done();
            };
            request.onload = () => {
                let answer = null;
                try {
                    answer = JSON.parse(request.responseText);
                } catch {
                    // not ours: told as refused
                }
                if (request.status === 202 || request.status === 200) {
                    sent();
                    shown.name.href = drop.dataset.page.replace("/0/", `/${answer.id}/`);
                    tell(shown, "waits to be read");
                    follow(shown, `${url}/${answer.id}`);
                } else {
                    tell(shown, problem(answer), "failed");
                }
                done();
            };
            request.send(body);
        });

    const next = async () => {
        if (busy >= AT_ONCE || !waiting.length) return;
        busy += 1;
        const job = waiting.shift();
        await (job.isChat ? tryChat({ ...job, token, tell, problem, sent, user: field("user") }) : send(job));
        busy -= 1;
        next();
    };

    const take = (files) => {
        const about = {};
        const tags = field("tags").split(",").map((tag) => tag.trim()).filter(Boolean);
        if (tags.length) about.containerTags = tags;
        if (field("user")) about.userId = field("user");
        if (field("visibility")) about.visibility = field("visibility");
        const isChat = field("kind") === "chats";
        const url = `/api/v1/workspaces/${field("workspace")}/${isChat ? "transcripts" : "documents"}`;
        for (const file of files) {
            const shown = rowOf(file);
            counts.all += 1;
            if (file.size > Number(drop.dataset.most)) tell(shown, "too large", "failed");
            else waiting.push({ file, shown, about, url, isChat });
        }
        tally();
        for (let at = 0; at < AT_ONCE; at += 1) next();
    };

    picker.addEventListener("change", () => {
        take([...picker.files]);
        picker.value = "";
    });
    for (const kind of ["dragover", "dragleave", "drop"]) {
        drop.addEventListener(kind, (event) => {
            event.preventDefault();
            drop.classList.toggle("desk-drop--over", kind === "dragover");
        });
    }
    drop.addEventListener("drop", (event) => take([...event.dataTransfer.files]));
    window.addEventListener("beforeunload", (event) => {
        if (busy) event.preventDefault();
    });
});
