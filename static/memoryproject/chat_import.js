// A chat is read first: its authors are shown, each with a field for the user that they are here. Then it is kept,
// and may be taken back.
"use strict";

const tryChat = async ({ file, shown, url, token, tell, problem, sent, user }) => {
    const batch = file.name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+/, "").slice(0, 40).replace(/-+$/, "") || "files";
    const part = document.createElement("div");
    part.className = "desk-form";

    const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

    const ask = async (method, address, body) => {
        try {
            const answer = await fetch(address, { method, body, headers: { "X-CSRFToken": token, Accept: "application/json" } });
            const told = await answer.json();
            return answer.ok ? told : { failed: problem(told) };
        } catch {
            return { failed: "the connection was lost" };
        }
    };

    const send = (about) => {
        const body = new FormData();
        body.append("file", file);
        body.append("transcript", JSON.stringify(user ? { userId: user, ...about } : about));
        return ask("POST", url, body);
    };

    const button = (words, act) => {
        const made = document.createElement("button");
        Object.assign(made, { type: "button", className: "desk-button", textContent: words });
        made.addEventListener("click", async () => {
            made.disabled = true;
            await act();
            made.disabled = false;
        });
        part.append(made);
    };

    const line = (words) => {
        const told = document.createElement("p");
        told.className = "desk-small desk-quiet";
        told.textContent = words;
        part.append(told);
    };

    const found = await send({ dryRun: true });
    if (found.failed) return tell(shown, found.failed, "failed");
    tell(shown, `${count(found.messages, "message")} in ${count(found.conversations, "conversation")}`);
    shown.bar.remove();
    const fields = found.authors.slice(0, 40).map((author) => {
        const label = document.createElement("label");
        const input = document.createElement("input");
        label.className = "desk-field";
        label.textContent = `${author.name}: ${count(author.messages, "message")}`;
        Object.assign(input, { className: "desk-input", placeholder: "user id; empty: told of by name" });
        label.append(input);
        part.append(label);
        return { name: author.name, input };
    });
    for (const each of found.leftOut) line(`line ${each.line}: ${each.reason}`);
    if (found.leftOutCount > found.leftOut.length) line(`and ${found.leftOutCount - found.leftOut.length} more`);

    button("Keep these messages", async () => {
        const named = fields.map(({ name, input }) => [name, input.value.trim()]).filter(([, id]) => id);
        const me = named.filter(([, id]) => id === user).map(([name]) => name);
        const kept = await send({ batch, me, authors: Object.fromEntries(named.filter(([, id]) => id !== user)) });
        if (kept.failed) return tell(shown, kept.failed);
        tell(shown, `${kept.stored} kept, ${kept.known} were here already`);
        sent();
        part.replaceChildren();
        button("Take them back", async () => {
            if (!confirm("All of it is erased, and what was learned from it. There is no way back.")) return;
            const gone = await ask("DELETE", `${url}?batch=${batch}`);
            tell(shown, gone.failed ?? "taken back");
            if (!gone.failed) part.replaceChildren();
        });
    });
    shown.row.append(part);
};
