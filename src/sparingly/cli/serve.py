"""``sparingly serve``: the web pages of a campaign, for raters and the organiser."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from sparingly.base.errors import InputError, UsageError
from sparingly.cli.campaign import set_guidelines
from sparingly.cli.options import DEFAULT_READ_OPTIONS, Json, ReadOptions, emit, parts_of
from sparingly.cli.parameters import about, flag, options
from sparingly.cli.subject import Ask, Name, Sources, is_campaign, opened, strategy_to_ask, subject_of
from sparingly.data.files import naming_target, write_atomically
from sparingly.data.selection import Selection

if TYPE_CHECKING:
    from sparingly.run.campaign.access import Role
    from sparingly.show.web.web import Web

_LAST_PORT = 65_535
_OPEN = (
    "sparingly: everybody who reaches this machine on the network can try these pages. Links and answers "
    "travel unencrypted unless a proxy in front of it speaks HTTPS.\n"
)


@options
class ServerOptions:
    """Address the pages are."""

    host: Annotated[str, about("The address to listen at; default: only this machine.")] = "127.0.0.1"
    port: Annotated[int, about("The port; 0 takes a free one.")] = 8000
    secret_file: Annotated[
        Path | None, about("The key that signs sessions; default: beside a campaign's file.")
    ] = None
    public: Annotated[
        str | None,
        about("The public address behind a proxy: https://judge.example.org, or https://example.org/judge."),
    ] = None
    renew_organiser: Annotated[
        bool, flag("Revoke earlier organiser links, for example one that others have seen.")
    ] = False
    once_links: Annotated[
        Path | None, about("Write the links here, readable only by you, and not on the terminal.")
    ] = None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the pages."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def hosts(self) -> tuple[str, ...] | None:
        """The names that the server goes by; None takes any, since the network may have many for it."""
        from sparingly.show.web.guard import LOOPBACK

        return (*LOOPBACK, self.host) if self.is_local else None


DEFAULT_SERVER = ServerOptions()


def serve(
    sources: Sources,
    /,
    *,
    ask: Ask = "scores",
    budget: Annotated[
        str | None,
        about(
            "Of data that is not yet a campaign: items or comparisons, 100, 10%; default: all.",
            "--budget",
            "-b",
        ),
    ] = None,
    raters: Annotated[
        str, about("Make a link for each of these, separated by commas.", show_default=False)
    ] = "",
    instructions: Annotated[
        Path | None, about("The guidelines: Markdown with a title, a scale in words, examples, consent.")
    ] = None,
    form: Annotated[
        str | None,
        about(
            "What raters fill in: pass_fail, rubric, stars, score, contrastive, ranking, esa or mqm (both "
            "mark errors); default: pass_fail on a scale from 0 to 1, else score. --ask pairs has its own.",
        ),
    ] = None,
    one_by_one: Annotated[bool, flag("Show the outputs of an item one after the other.")] = False,
    advance: Annotated[
        bool, flag("Submit a page as soon as every output on it has a score; Backspace goes back.")
    ] = False,
    reference: Annotated[
        bool, flag("Show the reference, too; raters then tend to prefer what looks like it.")
    ] = False,
    texts: Annotated[
        Literal["plain", "markdown"], about("How texts are shown: as they are, or as Markdown.")
    ] = "plain",
    assignment: Annotated[
        Path | None, about("Who judges what, from sparingly assign; otherwise raters get what is open.")
    ] = None,
    overlap: Annotated[
        float,
        about("The share of outputs that two raters judge, and at least 20, so that agreement is known."),
    ] = 0.1,
    tutorial: Annotated[
        Path | None, about("Items with known answers (labels) that raters judge first, until right.")
    ] = None,
    controls: Annotated[
        str | None,
        about(
            "One in ten pages: items with known answers from a file; or damaged: outputs judged before, with "
            "words replaced, which must not score higher.",
        ),
    ] = None,
    images: Annotated[
        Path | None,
        about("The folder of images: texts that name one, as a path or a Markdown image, show it."),
    ] = None,
    repeats: Annotated[
        float, about("The share of pages that a rater judges a second time: how they agree with themselves.")
    ] = 0.0,
    third_rater: Annotated[
        bool, flag("Ask a third rater where two disagree, who decides; otherwise reviewers do.")
    ] = False,
    help_from: Annotated[
        str | None,
        about(
            "Fill in an AI's answers for some questions: a metric, or a file with item, model, score, spans."
        ),
    ] = None,
    help_share: Annotated[
        float, about("The probability that a rater sees them; scores are estimated as without.")
    ] = 0.5,
    language: Annotated[str, about("The language of the raters' pages: en, de, es or fr.")] = "en",
    panel: Annotated[
        str | None,
        about(
            "Let people of Prolific or another panel in at /join; their completion code, or the address to "
            "send them back to.",
        ),
    ] = None,
    panel_pages: Annotated[
        int | None, about("With --panel: the pages that one person judges; default: all.")
    ] = None,
    panel_screened: Annotated[
        str | None, about("With --panel: the code, or address, for those who do not consent.")
    ] = None,
    panel_pay: Annotated[
        float | None, about("With --panel: what one person is paid; your pages show what an hour comes to.")
    ] = None,
    rate: Annotated[
        float | None, about("What an hour of a rater is paid; your pages show the cost so far.")
    ] = None,
    reviewers: Annotated[
        str,
        about(
            "Links for colleagues who read your pages and decide where raters disagree.", show_default=False
        ),
    ] = "",
    viewers: Annotated[str, about("Links for people who only read your pages.", show_default=False)] = "",
    serving: ServerOptions = DEFAULT_SERVER,
    name: Name = None,
    reading: ReadOptions = DEFAULT_READ_OPTIONS,
    json: Json = False,
) -> None:
    """Open web pages on which people judge your outputs.

    ```
    sparingly serve responses.csv --budget 100
    ```

    A file becomes a campaign, FILE.db beside it; with a selection, people judge just that. Answers are
    saved as they come in: Ctrl-C loses nothing, and the same command continues.

    Links are shown once, and only digests of them are saved. Start with --raters again to make new ones.

    ```
    sparingly serve wmt.db --raters anna,ben
    sparingly serve ab.jsonl --ask pairs --budget 60
    sparingly serve data.jsonl chosen.json --raters anna,ben
    sparingly serve wmt.db --instructions guidelines.md
    sparingly serve wmt.db --form esa --once-links links.txt
    sparingly serve wmt.db --public https://judge.example.org
    sparingly serve wmt.db shop.db --viewers eva
    ```

    Several campaigns are served at once, each below a path with the name of its file; your link opens all.
    """
    from sparingly.data.io import load
    from sparingly.run.raters.assignment import Assignment
    from sparingly.show.web.app import create_app
    from sparingly.show.web.panel import EXAMPLE, Panel
    from sparingly.show.web.server import run
    from sparingly.show.web.several import create_several, path_names
    from sparingly.show.web.web import DAMAGED

    are_campaigns = all(map(is_campaign, sources))
    addresses = sources if are_campaigns else (_new_campaign(sources, budget, reading, ask),)
    several = len(addresses) > 1
    # What the databases are called, where several are served: the file without its folder and ending.
    names = path_names([Path(urlsplit(address).path).stem for address in addresses]) if several else [""]
    apps = {}
    try:
        for address, path in zip(addresses, names, strict=True):
            apps[f"/{path}"] = create_app(
                address,
                name,
                secret=_secret(address, serving.secret_file, name),
                form=form,
                texts=texts,
                assignment=None if assignment is None else Assignment.load(assignment),
                overlap=overlap,
                one_by_one=one_by_one,
                reference=reference,
                tutorial=None if tutorial is None else load(tutorial),
                controls=DAMAGED if controls == DAMAGED else load(controls) if controls else None,
                language=language,
                panel=None if panel is None else Panel(panel, panel_pages, panel_screened, panel_pay),
                hosts=serving.hosts,
                public=serving.public,
                advance=advance,
                base=f"/{path}" if several else "",
                rate=rate,
                help_from=help_from,
                help_share=help_share,
                third_rater=third_rater,
                repeats=repeats,
                images=images,
            )
        webs: dict[str, Web] = {path: app.state.web for path, app in apps.items()}
        with _listening(serving) as listener:
            host = serving.host
            if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not bound
                host = socket.gethostname()
            port = listener.getsockname()[1]
            here = f"http://{f'[{host}]' if ':' in host else host}:{port}"
            links: dict[str, str] = {}
            token = None
            for path, web in webs.items():
                _begin(web, instructions)
                if serving.renew_organiser:
                    web.access.retire_organiser(by="command line")
                # One token opens the organiser's pages of all.
                token = web.access.invite("organiser", by="command line", token=token)
                start, what = f"{web.public or here}{web.base}", f"{path[1:]}, " if several else ""
                organiser = start.removesuffix(path) if several else start
                links["organiser"] = f"{organiser}/o/{token}"
                if panel is not None:
                    links[f"{what}panel"] = f"{start}/join?{EXAMPLE}"
                roles: dict[Role, str] = {"rater": raters, "reviewer": reviewers, "viewer": viewers}
                for role, people in roles.items():
                    for person in parts_of(people):
                        opened = web.access.invite(role, person, by="command line")
                        links[f"{what}{role} {person}"] = (
                            f"{start}/{'r' if role == 'rater' else 'o'}/{opened}"
                        )
            _tell(links, serving.once_links, json=json)
            for web in webs.values():
                if web.help is not None:
                    sys.stderr.write(f"sparingly: {web.help.sentence}.\n")
            if not serving.is_local:
                sys.stderr.write(_OPEN)
            app = create_several(apps, hosts=serving.hosts, public=serving.public) if several else apps["/"]
            run(app, listener, behind_proxy=serving.public is not None)
    except KeyboardInterrupt:
        # This is how it ends; what was acknowledged is on disk at any moment.
        pass
    finally:
        for one in apps.values():
            one.state.web.campaign.disconnect()
    if not json:
        sys.stdout.write("stopped; all answers are saved, and the same command continues.\n")


def _begin(web: Web, instructions: Path | None) -> None:
    """Draw the first round and read the data, before anybody waits for it."""
    status = web.campaign.status()
    if not status.closed and not any(set_status.rounds for set_status in status.sets):
        web.campaign.next()
    if instructions is not None:
        set_guidelines(web.campaign, instructions)
    web.board.refresh()


def _new_campaign(
    sources: tuple[str, ...], budget: str | None, reading: ReadOptions, ask: str = "scores"
) -> str:
    """Make a campaign of data, or of a selection, in a file beside it; go on with one that is there."""
    from sparingly.data.texts import check_texts
    from sparingly.run.campaign.campaign import Campaign

    first = Path(sources[0])
    address = first.with_name(f"{first.name.split('.')[0]}.db")
    if address.exists():
        ignored = "" if budget is None else "; its budget stays as it is"
        sys.stderr.write(f"sparingly: continuing {address}{ignored}.\n")
        return str(address)
    with subject_of(sources, reading) as subject:
        data, chosen = subject.data, subject.selection
    check_texts(data)
    if chosen is None:
        Campaign.new(address, data, strategy_to_ask(ask), budget or "100%").disconnect()
        return str(address)
    if ask == "pairs":
        raise UsageError("A selection of items is scored: give the data alone to ask for pairs.")
    if budget is not None:
        raise UsageError("A selection already says what to judge: leave out --budget.")
    signature = chosen.signature
    with Campaign.new(address, data, signature.method, signature.budget, seed=signature.seed) as running:
        drawn = running.preview()
    if not isinstance(drawn, Selection) or list(drawn.items) != list(chosen.items):
        address.unlink()
        raise UsageError(
            "The selection was not made from this data, as its signature shows: give the data that it "
            "was chosen from."
        )
    return str(address)


def _tell(links: dict[str, str], file: Path | None, *, json: bool) -> None:
    """Tell the links, this once."""
    if file is not None:
        text = "".join(f"{person}\t{link}\n" for person, link in links.items())
        write_atomically(file, lambda target: target.writelines([text.encode()]), private=True)
        summary = {"written": str(file)}
    else:
        summary = links
    if json:
        emit(summary)
    else:
        sys.stdout.write("".join(f"{person}: {link}\n" for person, link in summary.items()))
        sys.stdout.write("Serving until Ctrl-C.\n")
    sys.stdout.flush()


def _listening(serving: ServerOptions) -> socket.socket:
    # Looking the address up would quietly take a larger number modulo 65536.
    if not 0 <= serving.port <= _LAST_PORT:
        raise UsageError(f"A port is a number from 0 to {_LAST_PORT}, not {serving.port}.")
    try:
        addresses = socket.getaddrinfo(serving.host, serving.port, type=socket.SOCK_STREAM)
        listener = socket.create_server(addresses[0][4][:2], family=addresses[0][0], backlog=512)
    except OSError as error:
        raise UsageError(
            f"The pages cannot be at {serving.host}, port {serving.port} ({error.strerror}). "
            "Give another --port or --host."
        ) from None
    # Connections inherit it: else the end of an answer waits 40 ms until its beginning is confirmed.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _secret(address: str, file: Path | None, name: str | None = None) -> str:
    """Return what signs sessions, the same after a restart; made on the first start."""
    if file is None and "://" in address:
        sys.stderr.write("sparingly: sessions end with this process; keep them with --secret-file.\n")
        return secrets.token_urlsafe(32)
    path = Path(f"{address}.secret") if file is None else file
    if not path.exists():
        # Nothing is written beside a file that is no campaign.
        opened(address, name).disconnect()
        _write_private(path, secrets.token_urlsafe(32))
    secret = path.read_text(encoding="utf-8").strip()
    if len(secret) < 32:
        raise InputError(
            "a secret has at least 32 letters", file=path, fix="Delete the file: a new one is made"
        )
    return secret


def _write_private(path: Path, text: str) -> None:
    """Write a file that nobody else can read, whole or not at all; the first to write it wins."""
    with naming_target(path):
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            try:
                path.hardlink_to(temporary)
            except FileExistsError:
                return
            except OSError:
                # Some file systems have no hard links.
                _rename_new(Path(temporary), path)
        finally:
            Path(temporary).unlink(missing_ok=True)


def _rename_new(temporary: Path, path: Path) -> None:
    """Rename a file unless the target exists.

    Others wait at the lock of the folder meanwhile; it leaves no file and ends with the process that has it.
    """
    if sys.platform == "win32":
        # There a target that exists is refused.
        with suppress(FileExistsError):
            temporary.rename(path)
        return
    import fcntl

    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not path.exists():
            temporary.rename(path)
    finally:
        os.close(folder)
