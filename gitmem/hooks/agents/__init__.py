"""The agents' clients: what each sends before and after a tool call, and how each wants to be answered.

    payloads   bytes, however broken, to an object
    dialects   the table: whose payload it is, what each client calls its events, how it is answered
    edits      the input of an editing tool to `Edit`s, in every spelling that clients have
    patches    the text of a patch to `Edit`s
    asking     what a finished call asked of gitmem
    failing    what a shell's finished command says of failing tests
    reading    all of these: bytes to a `Call`
    answering  an `Answer` to bytes, in the client's dialect

Clients differ in names far more than in meaning, so nearly all of it is data. A payload is judged by its shape,
for clients run each other's hooks: Cursor, VS Code and Devin also start what stands in `.claude/settings.json`.
"""
