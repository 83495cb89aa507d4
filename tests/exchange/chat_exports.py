"""Exports of chats in the shapes that the programs write: each with the messages that are in it.

All people and sentences are made up.
"""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Line = tuple[str, str, str]  # author, time, words


@dataclass(frozen=True)
class Export:
    """A file of an export, and what is to be read of it. `left_out` are parts of what is told."""

    kind: str
    name: str
    content: bytes
    lines: Sequence[Line]
    left_out: Sequence[str] = ()


def export(kind: str, name: str, content: Any, lines: Sequence[Line], *left_out: str) -> Export:
    if not isinstance(content, str | bytes):
        content = json.dumps(content, ensure_ascii=False)
    raw = content if isinstance(content, bytes) else content.encode()
    return Export(kind, name, raw, lines, left_out)


def jsonl(*rows: Any) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def archive(**files: Any) -> bytes:
    """A zip archive; of a name, `__` is a slash and `_dot_` a dot."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            raw = content if isinstance(content, str | bytes) else json.dumps(content)
            packed.writestr(name.replace("__", "/").replace("_dot_", "."), raw)
    return out.getvalue()


SYSTEM, MEDIA, DELETED = "line of the program", "picture or file without words", "deleted message"

WHATSAPP = [
    export(
        "whatsapp",
        "WhatsApp Chat - Runa.txt",
        "\u200e[09/03/2026, 9:04:11\u202fPM] Runa Vik: \u200eMessages and calls are end-to-end encrypted.\r\n"
        "[09/03/2026, 9:05:00\u202fPM] Runa Vik: I sold the canoe\r\n"
        "and bought a kayak\r\n"
        "\u200e[09/03/2026, 9:06:30\u202fPM] Tarek: \u200eimage omitted\r\n"
        "[25/03/2026, 12:00:05\u202fAM] Tarek: My shift ends at six \u200e<This message was edited>\r\n",
        [
            ("Runa Vik", "2026-03-09 21:05:00", "I sold the canoe\nand bought a kayak"),
            ("Tarek", "2026-03-25 00:00:05", "My shift ends at six"),
        ],
        SYSTEM,
        MEDIA,
    ),
    export(
        "whatsapp",
        "WhatsApp Chat with Book club.txt",
        "3/9/26, 9:04 PM - Messages and calls are end-to-end encrypted. Tap to learn more.\n"
        '3/9/26, 9:04 PM - Runa created group "Book club: Mondays"\n'
        "3/9/26, 9:05 PM - Runa: I finished the third chapter\n"
        "3/9/26, 9:07 PM - +47 912 34 567: <Media omitted>\n"
        "3/28/26, 8:15 AM - +47 912 34 567: Mine is at the library: shelf 4\n"
        "3/28/26, 8:16 AM - Runa: This message was deleted\n",
        [
            ("Runa", "2026-03-09 21:05:00", "I finished the third chapter"),
            ("+47 912 34 567", "2026-03-28 08:15:00", "Mine is at the library: shelf 4"),
        ],
        SYSTEM,
        MEDIA,
        DELETED,
    ),
    export(
        "whatsapp",
        "WhatsApp Chat mit Oma.txt",
        "09.03.26, 21:04 - Nachrichten und Anrufe sind Ende-zu-Ende-verschlüsselt.\n"
        "09.03.26, 21:05 - Oma: Ich habe den Garten umgegraben\n"
        "14.03.26, 07:30 - Jonas: IMG-20260314-WA0001.jpg (Datei angehängt)\n"
        "So sieht er jetzt aus\n"
        "14.03.26, 07:31 - Oma: <Medien ausgeschlossen>\n",
        [
            ("Oma", "2026-03-09 21:05:00", "Ich habe den Garten umgegraben"),
            ("Jonas", "2026-03-14 07:30:00", "So sieht er jetzt aus"),
        ],
        SYSTEM,
        MEDIA,
    ),
    export(
        "whatsapp",
        "Chat de Lucía.txt",
        "9/3/26, 9:05\u00a0p.\u00a0m. - Lucía: Ya vivo en Gijón\n"
        "9/3/26, 11:59\u00a0p.\u00a0m. - Paco: Qué bien\n"
        "30/3/26, 1:00\u00a0a.\u00a0m. - Lucía: Se eliminó este mensaje\n",
        [
            ("Lucía", "2026-03-09 21:05:00", "Ya vivo en Gijón"),
            ("Paco", "2026-03-09 23:59:00", "Qué bien"),
        ],
        DELETED,
    ),
    export(
        "whatsapp",
        "_chat.zip",
        archive(
            _chat_dot_txt="[2026-03-09, 21:05:00] ~\u202fIda: Where do we meet?\n"
            "[2026-03-09, 21:06:10] Bo: At the pier \u200e<attached: 00000003-PHOTO-2026-03-09.jpg>\n",
            **{"00000003-PHOTO-2026-03-09_dot_jpg": b"\xff\xd8"},
        ),
        [("Ida", "2026-03-09 21:05:00", "Where do we meet?"), ("Bo", "2026-03-09 21:06:10", "At the pier")],
        "pictures and other files",
    ),
    export(
        "whatsapp",
        "order.txt",
        # No number above 12; only with the day first do the lines follow each other.
        "11/03/2026, 10:00 - Runa: First\n12/03/2026, 10:00 - Bo: Second\n01/04/2026, 10:00 - Runa: Third\n",
        [
            ("Runa", "2026-03-11 10:00:00", "First"),
            ("Bo", "2026-03-12 10:00:00", "Second"),
            ("Runa", "2026-04-01 10:00:00", "Third"),
        ],
    ),
]


def telegram(**more: Any) -> dict[str, Any]:
    return {"name": "Ivana", "type": "personal_chat", "id": 71, **more}


def tg(number: int, unix: int, who: str, text: Any, **more: Any) -> dict[str, Any]:
    at = {"date": "2026-07-11T15:00:00", "date_unixtime": str(unix)}
    return {"id": number, "type": "message", **at, "from": who, "from_id": f"user{who}", "text": text, **more}


TELEGRAM = [
    export(
        "telegram",
        "result.json",
        telegram(
            messages=[
                {"id": 1, "type": "service", "date": "2026-07-11T15:00:00", "actor": "Ivana", "action": "phone_call"},
                tg(2, 1783776971, "Ivana", ["I moved to ", {"type": "bold", "text": "Pula"}, ", see ", "this"]),
                tg(3, 1783777031, "Dov", "On my way", reply_to_message_id=2, edited="2026-07-11T15:10:00"),
                tg(4, 1783777091, "Dov", "", media_type="sticker", file="s.webp"),
            ]
        ),
        [
            ("Ivana", "2026-07-11 13:36:11", "I moved to Pula, see this"),
            ("Dov", "2026-07-11 13:37:11", "On my way"),
        ],
        SYSTEM,
        MEDIA,
    ),
    export(
        "telegram",
        "account.json",
        {
            "about": "Here is the data you requested.",
            "chats": {
                "about": "",
                "list": [
                    telegram(messages=[tg(1, 1783776971, "Ivana", "I keep bees")]),
                    {"type": "saved_messages", "id": 9, "messages": [tg(1, 1783777031, "Dov", "Buy wax")]},
                ],
            },
            "left_chats": {"about": "", "list": []},
        },
        [("Ivana", "2026-07-11 13:36:11", "I keep bees"), ("Dov", "2026-07-11 13:37:11", "Buy wax")],
    ),
    export(
        "telegram",
        "forwards.json",
        telegram(messages=[tg(5, 1783776971, "Ivana", "I hate rain", forwarded_from="Weather Club")]),
        [("Ivana", "2026-07-11 13:36:11", "Forwarded from Weather Club:\n> I hate rain")],
    ),
]

SLACK_USERS = [
    {"id": "U1", "name": "ofek", "profile": {"display_name": "Ofek", "real_name": "Ofek Bar"}},
    {"id": "U2", "name": "mei", "profile": {"display_name": "", "real_name": "Mei Tan"}},
]
SLACK_DAY = [
    {"type": "message", "subtype": "channel_join", "user": "U1", "text": "<@U1> has joined", "ts": "1773000000.000100"},
    {
        **{"type": "message", "user": "U1", "text": "I own the <#C1|billing> rewrite &amp; <@U2> the tests"},
        **{"ts": "1773000010.000200", "thread_ts": "1773000010.000200"},
    },
    {"type": "message", "user": "U2", "text": "Gladly", "ts": "1773000020.000300", "thread_ts": "1773000010.000200"},
    {
        **{"type": "message", "subtype": "bot_message", "bot_id": "B1", "username": "builds"},
        **{"text": "Build <https://example.org/7|7> failed", "ts": "1773000030.000400"},
    },
]
SLACK = [
    export(
        "slack",
        "Harbor Slack export Mar 1 2026.zip",
        archive(
            users_dot_json=SLACK_USERS,
            channels_dot_json=[{"id": "C9", "name": "general"}],
            **{"general__2026-03-08_dot_json": SLACK_DAY},
        ),
        [
            ("Ofek", "2026-03-08 20:00:10", "I own the #billing rewrite & @Mei Tan the tests"),
            ("Mei Tan", "2026-03-08 20:00:20", "Gladly"),
            ("builds", "2026-03-08 20:00:30", "Build 7 failed"),
        ],
        SYSTEM,
        "lists of the export",
    ),
    export(
        "slack",
        "2026-03-08.json",
        [
            {
                **{"type": "message", "user": "U7", "text": "We ship on Friday", "ts": "1773000010.000200"},
                **{"user_profile": {"display_name": "", "real_name": "Ines Sol", "name": "ines"}},
                **{"files": [{"id": "F1", "name": "plan.pdf"}], "edited": {"user": "U7", "ts": "1773000011.000000"}},
            }
        ],
        [("Ines Sol", "2026-03-08 20:00:10", "We ship on Friday")],
    ),
]


def dce(number: str, kind: str, who: str, text: str, **more: Any) -> dict[str, Any]:
    author = {"id": f"9{who}", "name": who.lower(), "discriminator": "0000", "nickname": who, "isBot": False}
    at = {"timestamp": "2026-10-05T17:04:0" + number + ".25+02:00", "timestampEdited": None}
    return {"id": number, "type": kind, **at, "content": text, "author": author, "attachments": [], **more}


DISCORD = [
    export(
        "discord",
        "Reef - dives [42].json",
        {
            "guild": {"id": "1", "name": "Reef"},
            "channel": {"id": "42", "type": "GuildTextChat", "category": "Text", "name": "dives", "topic": None},
            "dateRange": {"after": None, "before": None},
            "messages": [
                dce("1", "GuildMemberJoin", "Kaia", "Joined the server."),
                dce("2", "Default", "Kaia", "I dive twice a week"),
                dce("3", "Reply", "Pim", "Same", reference={"messageId": "2", "channelId": "42", "guildId": "1"}),
                dce("4", "Default", "Pim", "", attachments=[{"id": "7", "url": "x", "fileName": "reef.png"}]),
            ],
            "messageCount": 4,
        },
        [("Kaia", "2026-10-05 15:04:02", "I dive twice a week"), ("Pim", "2026-10-05 15:04:03", "Same")],
        SYSTEM,
        MEDIA,
    ),
    export(
        "discord",
        "Reef - dives [42].txt",
        "=" * 62
        + "\nGuild: Reef\nChannel: Text / dives\n"
        + "=" * 62
        + "\n\n[05-Oct-26 03:35 PM] Kaia\nI lost a fin\nnear the wreck\n\n"
        "[05-Oct-26 03:36 PM] Pim (pinned)\nI have a spare one\n\n{Attachments}\nhttps://example.org/fin.png\n\n"
        + "=" * 62
        + "\nExported 2 message(s)\n"
        + "=" * 62,
        [
            ("Kaia", "2026-10-05 15:35:00", "I lost a fin\nnear the wreck"),
            ("Pim", "2026-10-05 15:36:00", "I have a spare one"),
        ],
        SYSTEM,
    ),
]


def item(author: str, sent: int, body: str, **more: Any) -> dict[str, Any]:
    message = {"standardMessage": {"text": {"body": body}}} if body else {}
    return {"chatItem": {"chatId": "3", "authorId": author, "dateSent": str(sent), "incoming": {}, **message, **more}}


SIGNAL = [
    export(
        "signal",
        "main.jsonl",
        jsonl(
            {"version": "1", "backupTimeMs": "1790000000000", "mediaRootBackupKey": "x"},
            {"account": {"givenName": "Nuria"}},
            {"recipient": {"id": "1", "self": {}}},
            {"recipient": {"id": "2", "contact": {"profileGivenName": "Emre", "profileFamilyName": "Kaya"}}},
            {"chat": {"id": "3", "recipientId": "2"}},
            item("2", 1790000000000, "I play the oboe"),
            item("1", 1790000060000, "I play the viola"),
            item("2", 1790000090000, "", updateMessage={"simpleUpdate": {}}),
        ),
        [("Emre Kaya", "2026-09-21 14:13:20", "I play the oboe"), ("", "2026-09-21 14:14:20", "I play the viola")],
        SYSTEM,
    ),
    export(
        "signal",
        "Emre.md",
        "[2026-05-29, 15:04] Me: How was it?\n[2026-05-29, 15:05] Emre: I won\nthe second set\n"
        "[2026-05-29, 15:06] Emre: ![photo](./media/2026-05-29_00_photo.jpeg)\n",
        [("", "2026-05-29 15:04:00", "How was it?"), ("Emre", "2026-05-29 15:05:00", "I won\nthe second set")],
        MEDIA,
    ),
    export(
        "signal",
        "data.json",
        jsonl(
            *(
                {
                    "date": at,
                    "sender": who,
                    "body": text,
                    "quote": "",
                    "sticker": "",
                    "reactions": [],
                    "attachments": [],
                }
                for at, who, text in (
                    ("2026-05-29T15:04:00", "Me", "Are you in?"),
                    ("2026-05-29T15:05:00", "Emre", "I am at the gym"),
                )
            )
        ),
        [("", "2026-05-29 15:04:00", "Are you in?"), ("Emre", "2026-05-29 15:05:00", "I am at the gym")],
    ),
]

IMESSAGE = [
    export(
        "imessage",
        "+15550001111.txt",
        "May 17, 2026  5:29:42 PM (Read by you after 1 hour, 49 seconds)\n+15550001111\nI adopted a greyhound\n"
        "\n\nMay 17, 2026  5:31:00 PM\nMe\nI want to meet it\n\nsoon\nTapbacks:\nLoved by +15550001111\n\n"
        "May 17, 2026  5:32:00 PM +15550001111 named the conversation Dogs.\n\n"
        "May 17, 2026 12:01:09 AM\n+15550001111\nLibrary/Messages/Attachments/a1/dog.heic\nattachments/dog.heic\n",
        [
            ("+15550001111", "2026-05-17 17:29:42", "I adopted a greyhound"),
            ("", "2026-05-17 17:31:00", "I want to meet it\n\nsoon"),
            ("+15550001111", "2026-05-17 00:01:09", "Library/Messages/Attachments/a1/dog.heic"),
        ],
        SYSTEM,
        MEDIA,
    ),
    export(
        "imessage",
        "Rosa.txt",
        "Jan 02, 2026  9:00:00 AM\nRosa\nThe roof leaks\nThis message responded to an earlier message.\n"
        "    Jan 01, 2026  8:00:00 AM\n    Me\n    All well?\n\nJan 02, 2026  9:05:00 AM\nMe\nI will come\n",
        [("Rosa", "2026-01-02 09:00:00", "The roof leaks"), ("", "2026-01-02 09:05:00", "I will come")],
        "reaction",
    ),
]

TEAMS = [
    export(
        "teams",
        "messages.json",
        {
            "userId": "8:live:me.myself",
            "exportDate": "2026-06-01T10:00",
            "conversations": [
                {
                    "id": "19:abc@thread.skype",
                    "displayName": None,
                    "threadProperties": {"topic": "Choir"},
                    "MessageList": [
                        {
                            **{"id": "3", "displayName": None, "originalarrivaltime": "2026-05-03T10:02:00.000Z"},
                            **{
                                "messagetype": "ThreadActivity/AddMember",
                                "content": "<x/>",
                                "from": "8:live:me.myself",
                            },
                        },
                        {
                            **{"id": "2", "displayName": None, "originalarrivaltime": "2026-05-03T10:01:00.000Z"},
                            **{
                                "messagetype": "RichText",
                                "content": "I sing &quot;alto&quot;",
                                "from": "8:live:me.myself",
                            },
                        },
                        {
                            **{"id": "1", "displayName": "Ute", "originalarrivaltime": "2026-05-03T10:00:00.000Z"},
                            **{"messagetype": "RichText/Html", "content": "<p>I sing <b>bass</b></p>", "from": "8:ute"},
                        },
                    ],
                }
            ],
        },
        [("Ute", "2026-05-03 10:00:00", "I sing bass"), ("", "2026-05-03 10:01:00", 'I sing "alto"')],
        SYSTEM,
    ),
    export(
        "teams",
        "graph.json",
        {
            "@odata.context": "x",
            "value": [
                {
                    **{
                        "id": "1",
                        "createdDateTime": "2026-05-03T10:00:00.1Z",
                        "chatId": "19:q",
                        "messageType": "message",
                    },
                    **{"from": {"application": None, "user": {"id": "u", "displayName": "Abe Lund"}}},
                    **{
                        "body": {"contentType": "html", "content": "<div>I run the <i>lab</i></div>"},
                        "attachments": [],
                    },
                },
                {
                    **{"id": "2", "createdDateTime": "2026-05-03T10:01:00Z", "messageType": "systemEventMessage"},
                    **{"from": None, "body": {"contentType": "html", "content": "<systemEventMessage/>"}},
                },
            ],
        },
        [("Abe Lund", "2026-05-03 10:00:00", "I run the lab")],
        SYSTEM,
    ),
]


def creator(name: str) -> dict[str, str]:
    return {"name": name, "email": f"{name.lower()}@example.org", "user_type": "Human"}


GOOGLE_CHAT = [
    export(
        "google-chat",
        "takeout.zip",
        archive(
            **{
                "Takeout__Google Chat__Groups__DM x1__group_info_dot_json": {"members": [creator("Lior")]},
                "Takeout__Google Chat__Groups__DM x1__messages_dot_json": {
                    "messages": [
                        {
                            **{
                                "creator": creator("Lior"),
                                "created_date": "Monday, October 5, 2026 at 3:35:10\u202fPM UTC",
                            },
                            **{"text": "I teach chemistry", "topic_id": "t1", "message_id": "m1"},
                        },
                        {
                            **{"creator": creator("Ona"), "created_date": "Monday, 5 October 2026 at 15:36:00 UTC"},
                            **{"text": "And I physics", "topic_id": "t1", "message_id": "m2"},
                        },
                        {"message_state": "DELETED", "created_date": "x", "topic_id": "t1", "message_id": "m3"},
                    ]
                },
            }
        ),
        [("Lior", "2026-10-05 15:35:10", "I teach chemistry"), ("Ona", "2026-10-05 15:36:00", "And I physics")],
        DELETED,
    ),
    export(
        "google-chat",
        "messages.json",
        {
            "messages": [
                {
                    **{"creator": creator("Ona"), "created_date": "Monday, October 5, 2026 at 3:35:10 PM UTC"},
                    **{"attached_files": [{"original_name": "a.png", "export_name": "File-a.png"}], "topic_id": "t"},
                },
                {
                    **{"creator": {"name": "Reminders", "user_type": "Bot"}, "text": "Lunch", "topic_id": "t"},
                    **{"created_date": "Monday, October 5, 2026 at 3:35:11 PM UTC", "message_id": "m2"},
                },
            ]
        },
        [("Reminders", "2026-10-05 15:35:11", "Lunch")],
        MEDIA,
    ),
]

MESSENGER = [
    export(
        "messenger",
        "message_1.json",
        json.dumps(
            {
                "participants": [{"name": "Zo\u00c3\u00ab"}, {"name": "Piet"}],
                "messages": [
                    {"sender_name": "Piet", "timestamp_ms": 1790000060000, "is_unsent": True},
                    {"sender_name": "Piet", "timestamp_ms": 1790000050000, "photos": [{"uri": "p.jpg"}]},
                    {
                        "sender_name": "Zo\u00c3\u00ab",
                        "timestamp_ms": 1790000000000,
                        "content": "Caf\u00c3\u00a9 at noon",
                    },
                ],
                "title": "Zo\u00c3\u00ab",
                "thread_path": "inbox/zoe_1",
            }
        ),
        [("Zoë", "2026-09-21 14:13:20", "Café at noon")],
        DELETED,
        MEDIA,
    ),
    export(
        "messenger",
        "Zoe_5.json",
        {
            "participants": ["Zoë", "Piet"],
            "threadName": "Zoë_5",
            "messages": [
                {
                    **{"senderName": "Zoë", "text": "I cycle to work", "timestamp": 1790000000000, "type": "text"},
                    **{"isUnsent": False, "media": [], "reactions": []},
                }
            ],
        },
        [("Zoë", "2026-09-21 14:13:20", "I cycle to work")],
    ),
]

MAIL_A = (
    "Message-ID: <a@example.org>\nDate: Tue, 10 Nov 2026 08:02:00 +0100\nFrom: Maja Lind <maja@example.org>\n"
    "To: sam@example.org\nSubject: Keys\nContent-Type: text/plain; charset=utf-8\n\nI left the keys with Ove.\n"
)
MAIL_B = (
    "Message-ID: <b@example.org>\nIn-Reply-To: <a@example.org>\nReferences: <a@example.org>\n"
    "Date: Tue, 10 Nov 2026 09:00:00 +0000\nFrom: sam@example.org\nTo: Maja Lind <maja@example.org>\n"
    "Subject: Re: Keys\nContent-Type: text/html; charset=utf-8\n\n"
    "<div>Thanks!<br>I pick them up.</div><blockquote><p>I left the keys with Ove.</p></blockquote>\n"
)
MAIL = [
    export(
        "mail",
        "all.mbox",
        f"From 1@xxx Tue Nov 10 08:02:00 +0000 2026\n{MAIL_A}\nFrom 2@xxx Tue Nov 10 09:00:00 +0000 2026\n{MAIL_B}",
        [
            ("Maja Lind", "2026-11-10 07:02:00", "I left the keys with Ove."),
            ("sam@example.org", "2026-11-10 09:00:00", "Thanks!\nI pick them up.\n\n> I left the keys with Ove."),
        ],
    ),
    export(
        "mail",
        "keys.eml",
        MAIL_A.replace("\n", "\r\n"),
        [("Maja Lind", "2026-11-10 07:02:00", "I left the keys with Ove.")],
    ),
    export(
        "mail",
        "latin.eml",
        b"From: =?iso-8859-1?Q?J=F8rn?= <j@example.org>\nDate: Tue, 10 Nov 2026 08:02:00 +0000\nSubject: Hei\n"
        b"Content-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\n"
        b"Vi ses i Troms=F8\n",
        [("Jørn", "2026-11-10 08:02:00", "Vi ses i Tromsø")],
    ),
]


def cc(uuid: str, role: str, content: Any, **more: Any) -> dict[str, Any]:
    at = {"sessionId": "s9", "timestamp": f"2026-09-01T10:0{uuid}:00.000Z", "isSidechain": False}
    return {"type": role, "uuid": uuid, **at, "message": {"role": role, "content": content}, **more}


CLAUDE_CODE = [
    export(
        "claude-code",
        "s9.jsonl",
        jsonl(
            cc("1", "user", "<system-reminder>\nI prefer vim.\n</system-reminder>\nI prefer tabs."),
            cc("2", "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}]),
            cc("3", "user", "You are a searcher.", isSidechain=True),
            cc("4", "user", "I prefer bun.", isCompactSummary=True),
            cc("5", "user", "Implement the plan: I prefer yarn", planContent="I prefer yarn"),
            {
                **cc("6", "user", ""),
                **{"type": "attachment", "attachment": {"type": "queued_command", "prompt": "We use Go 1.25"}},
            },
        ),
        [
            ("", "2026-09-01 10:01:00", "I prefer tabs."),
            ("", "2026-09-01 10:02:00", "Noted."),
            ("", "2026-09-01 10:06:00", "We use Go 1.25"),
        ],
        "sub-agent",
        "summary",
        "plan",
    ),
    export(
        "claude-code",
        "agent-a1.jsonl",
        jsonl(cc("1", "user", "Search the repo", isSidechain=True, agentId="a1"), cc("2", "user", "My name is Una.")),
        [("", "2026-09-01 10:02:00", "My name is Una.")],
        "sub-agent",
    ),
]


def codex(second: int, kind: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-09-01T10:00:0{second}.000Z", "type": kind, "payload": payload}


def codex_said(second: int, role: str, text: str) -> dict[str, Any]:
    block = {"type": "input_text" if role == "user" else "output_text", "text": text}
    return codex(second, "response_item", type="message", role=role, content=[block])


CODEX = [
    export(
        "codex",
        "rollout-2026-09-01T10-00-00-x.jsonl",
        jsonl(
            codex(0, "session_meta", id="r1", cwd="/x", source="cli"),
            codex_said(1, "developer", "<permissions instructions>\nAsk first\n</permissions instructions>"),
            codex_said(1, "user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nI like nano\n</INSTRUCTIONS>"),
            codex_said(1, "user", "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"),
            codex_said(2, "user", "I deploy on Fridays"),
            codex(2, "event_msg", type="user_message", message="I deploy on Fridays", kind="plain"),
            codex_said(3, "assistant", "Brave."),
            codex(4, "compacted", message="The user likes emacs"),
        ),
        [("", "2026-09-01 10:00:02", "I deploy on Fridays"), ("", "2026-09-01 10:00:03", "Brave.")],
        "program wrote",
        "summary",
    ),
    export(
        "codex",
        "rollout-sub.jsonl",
        jsonl(
            codex(0, "session_meta", id="r2", source={"subagent": {"thread_spawn": {"parent_thread_id": "r1"}}}),
            codex_said(1, "user", "Review this. I prefer spaces."),
        ),
        [],
        "sub-agent",
    ),
]

GEMINI = [
    export(
        "gemini-cli",
        "session-2026-09-01T10-00-abc.json",
        {
            **{"sessionId": "g1", "projectHash": "f00", "startTime": "2026-09-01T10:00:00.000Z"},
            "messages": [
                {
                    **{"id": "1", "timestamp": "2026-09-01T10:00:01.000Z", "type": "user"},
                    "content": "I target Python 3.13\n\n--- Content from referenced files ---\nI am a file\n",
                },
                {
                    **{"id": "2", "timestamp": "2026-09-01T10:00:02.000Z", "type": "gemini", "content": "Good."},
                    **{"thoughts": [{"subject": "x"}], "model": "m"},
                },
                {"id": "3", "timestamp": "2026-09-01T10:00:03.000Z", "type": "info", "content": "Compressed."},
            ],
        },
        [("", "2026-09-01 10:00:01", "I target Python 3.13"), ("", "2026-09-01 10:00:02", "Good.")],
        "program wrote",
    ),
    export(
        "gemini-cli",
        "session-new.jsonl",
        jsonl(
            {"sessionId": "g2", "projectHash": "f00", "startTime": "2026-09-01T10:00:00.000Z", "kind": "main"},
            {
                **{"id": "1", "timestamp": "2026-09-01T10:00:01.000Z", "type": "user"},
                "content": [{"text": "I use ruff"}],
            },
            {"$set": {"lastUpdated": "2026-09-01T10:00:02.000Z"}},
        ),
        [("", "2026-09-01 10:00:01", "I use ruff")],
    ),
]

CURSOR = [
    export(
        "cursor",
        "cursor_landing_page.md",
        "# Landing page\n_Exported on 10/7/2026 at 17:09:40 GMT+5:30 from Cursor (3.2.11)_\n\n---\n\n**User**\n\n"
        "I want two columns\n\n---\n\n**Cursor**\n\n## Plan\n\nA grid.\n\n---\n\n**User**\n\nFine\n",
        [("", "", "I want two columns"), ("", "", "## Plan\n\nA grid."), ("", "", "Fine")],
    ),
    export(
        "cursor",
        "agent-transcript.jsonl",
        jsonl(
            {
                "role": "user",
                "message": {
                    "content": [
                        {
                            "type": "text",
                            "text": "<open_and_recently_viewed_files>\na.py\n</open_and_recently_viewed_files>",
                        },
                        {"type": "text", "text": "<user_query>\nI write Rust now\n</user_query>"},
                    ]
                },
            },
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "Ok."}]}},
        ),
        [("", "", "I write Rust now"), ("", "", "Ok.")],
    ),
]

LANGCHAIN = [
    export(
        "langchain",
        "history.json",
        [
            {"type": "human", "data": {"content": "I ski", "additional_kwargs": {}, "type": "human", "id": "h1"}},
            {"type": "ai", "data": {"content": "Where?", "type": "ai", "tool_calls": [], "id": "a1"}},
        ],
        [("", "", "I ski"), ("", "", "Where?")],
    ),
    export(
        "langchain",
        "dumpd.json",
        [
            {
                **{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name]},
                "kwargs": {"content": text, "type": kind},
            }
            for name, kind, text in (("HumanMessage", "human", "I row"), ("AIMessage", "ai", "Far?"))
        ],
        [("", "", "I row"), ("", "", "Far?")],
    ),
]

LISTS = [
    export(
        "messages",
        "openai.json",
        {
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "I drive a van"}]},
                {
                    **{"role": "assistant", "content": None},
                    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weigh", "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "c1", "content": "900 kg"},
            ]
        },
        [("", "", "I drive a van"), ("", "", ""), ("", "", "900 kg")],
    ),
    export(
        "messages",
        "anthropic.json",
        {
            "system": "Be brief.",
            "messages": [
                {"role": "user", "content": "<system-reminder>I like ink</system-reminder>I draw"},
                {"role": "assistant", "content": [{"type": "text", "text": "What?"}]},
            ],
        },
        [("", "", "Be brief."), ("", "", "I draw"), ("", "", "What?")],
    ),
]


def chatgpt(name: str, text: str) -> dict[str, Any]:
    author = {"role": "user"}
    content = {"content_type": "text", "parts": [text]}
    message = {"id": f"m{name}", "author": author, "create_time": 1790000000.0, "content": content}
    node = {"id": "a", "parent": None, "children": [], "message": message}
    return {"title": name, "conversation_id": name, "current_node": "a", "mapping": {"a": node}}


ASSISTANTS = [
    export(
        "chatgpt",
        "chatgpt-export.zip",
        archive(
            **{
                "conversations-000_dot_json": [chatgpt("one", "I carve spoons")],
                "conversations-001_dot_json": [chatgpt("two", "I weave baskets")],
                "user_dot_json": {"id": "u"},
                "chat_dot_html": "<html></html>",
                "file-abc_dot_png": b"x",
            }
        ),
        [("", "2026-09-21 14:13:20", "I carve spoons"), ("", "2026-09-21 14:13:20", "I weave baskets")],
        "lists of the export",
        "pictures and other files",
    ),
    export(
        "claude",
        "data-2026-09-21-batch-0000.zip",
        archive(
            users_dot_json=[{"uuid": "acc", "full_name": "N"}],
            projects_dot_json=[],
            conversations_dot_json=[
                {
                    **{"uuid": "k1", "name": "Loom", "account": {"uuid": "acc"}},
                    "chat_messages": [
                        {
                            **{"uuid": "m1", "sender": "human", "text": "", "created_at": "2026-09-21T14:13:20Z"},
                            "content": [{"type": "text", "text": "I own a loom"}],
                            "attachments": [{"file_name": "w.txt", "extracted_content": "I weave"}],
                        }
                    ],
                }
            ],
        ),
        [("", "2026-09-21 14:13:20", "I own a loom\n\n[w.txt]\n```\nI weave\n```")],
        "lists of the export",
    ),
]

EXPORTS = [
    *(WHATSAPP + TELEGRAM + SLACK + DISCORD + SIGNAL + IMESSAGE + TEAMS + GOOGLE_CHAT + MESSENGER + MAIL),
    *(CLAUDE_CODE + CODEX + GEMINI + CURSOR + LANGCHAIN + LISTS + ASSISTANTS),
]
