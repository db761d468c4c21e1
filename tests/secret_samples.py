"""Texts with a secret of each kind, and texts that only look a little like one. Every value is made up.

The tokens are put together here, so that no file of the project holds a text that a scanner would stop.
"""

from __future__ import annotations

import random
import string

_DIGITS = "0123456789abcdef"
_ALL = string.ascii_letters + string.digits


def letters(count: int, alphabet: str = _ALL, seed: int = 7) -> str:
    """`count` letters that are the same in each run, a digit among the first ones where the alphabet has any."""
    return ("a1B2" if alphabet is _ALL else "") + "".join(random.Random(seed).choices(alphabet, k=count))[
        : count - (4 if alphabet is _ALL else 0)
    ]


#: what it is called -> texts, each with the secret as (before, secret, after).
SECRETS: dict[str, list[tuple[str, str, str]]] = {
    "AWS access key id": [
        ("key ", "AKIA" + "IOSFODNN7EXAMPLE", " leaked"),
        ("", "ASIA" + "1234567890ABCDEF", "."),
    ],
    "AWS secret access key": [
        ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG" + "/bPxRfiCYEXAMPLEKEY", ""),
        ('AWS_SECRET_ACCESS_KEY="', letters(40), '"'),
        ("secretAccessKey: '", letters(40, seed=8), "'"),
    ],
    "GitHub token": [("we used ", "gh" + x + "_" + letters(36), ", then not") for x in "pousr"],
    "GitHub fine-grained token": [("", "github_" + "pat_" + letters(22) + "_" + letters(59), "")],
    "GitLab personal access token": [
        ("", "gl" + "pat-" + letters(20), ""),
        ("", "gl" + "pat-" + letters(27) + ".01.0z1x2c3v4", " in CI"),
    ],
    "npm token": [("//registry/:_authToken=", "npm" + "_" + letters(36), "")],
    "PyPI token": [("", "pypi-" + "AgEIcHlwaS5vcmc" + letters(60), "")],
    "SendGrid key": [("", "SG" + "." + letters(22) + "." + letters(43), "")],
    "Twilio key": [("", "SK" + letters(32, _DIGITS), "")],
    "Twilio token": [("TWILIO_AUTH_TOKEN=", letters(32, _DIGITS), "")],
    "Hugging Face token": [("", "hf" + "_" + letters(34, string.ascii_letters), "")],
    "Slack token": [
        ("", "xo" + "xb-123456789012-1234567890123-" + letters(24), ""),
        ("", "xo" + "xp-1234567890-1234567890-1234567890-" + letters(32, _DIGITS), ""),
    ],
    "Slack webhook": [("https://", "hooks.slack" + ".com/services/T00000000/B00000000/" + letters(24), " is ours")],
    "Stripe key": [("", "sk_" + "live_" + letters(24), ""), ("", "rk_" + "test_" + letters(24), "")],
    "OpenAI key": [("", "sk" + "-" + letters(48), ""), ("", "sk-" + "proj-" + letters(74), "")],
    "Anthropic key": [("", "sk-" + "ant-api03-" + letters(93) + "AA", "")],
    "Google API key": [("", "AI" + "zaSy" + letters(33), "")],
    "Azure account key": [("DefaultEndpointsProtocol=https;AccountKey=", letters(86) + "==", ";EndpointSuffix=x")],
    "private key": [
        ("", "-----BEGIN RSA " + "PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabc\n-----END RSA PRIVATE KEY-----", "\nit was"),
        ("", "-----BEGIN " + "PRIVATE KEY-----\nMIIEvQIBADANBg", ""),
        ("", "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----\n\nlQOYBFabcdef123", ""),
    ],
    "JSON web token": [
        (
            "cookie ",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + letters(43),
            " expired",
        )
    ],
    "bearer token": [
        ("Authorization: Bearer ", letters(32), ""),
        ("curl -H 'authorization: bearer ", letters(24), "'"),
    ],
    "authorization header": [("Authorization: Basic ", "dXNlcjpwYXNzd29yZA==", "")],
    "password in an address": [
        ("postgres://app:", "hunter2", "@db.internal/prod"),
        ("redis://:", "p4ssw0rd", "@cache:6379"),
        ("mongodb+srv://admin:", "Tr0ub4dor", "@cluster0.example.net"),
    ],
    "password": [
        ("DB_PASSWORD=", "hunter2", ""),
        ("DB_PASSWORD=", "swordfish", " in .env"),
        ("password: '", "hunter2", "'"),
        ("password: ", "hunter2", ", as before"),
        ('password = "', "correct-horse-battery-staple", '"'),
        ('{"password": "', "hunter22", '"}'),
        ("PASSWORD='", "P@ssw0rd!", "'"),
        ("password=", "SuperSecret123", ""),
        ("db_password: ", "Winter-2024!", ""),
        ("export DB_PASS=", "s3cr3tpass", ""),
        ("MYSQL_PWD=", "abc123def", ""),
        ("mysql --password ", "hunter2x", " prod"),
        ("<password>", "hunter2", "</password>"),
        ("the password is ", "Tr0ub4dor&3", ", ask Bob"),
    ],
    "token": [("API_TOKEN=", "abcd1234efgh5678", "")],
    "secret": [('client_secret: "', "a1b2c3d4e5f6g7h8", '"')],
    "API key": [("api_key=", "9f8e7d6c5b4a39281706f5e4d3c2b1a0", "")],
    "Stripe webhook secret": [("", "whsec" + "_" + letters(32), "")],
    "Google client secret": [("", "GOC" + "SPX-" + letters(28), "")],
    "Azure shared access key": [("Endpoint=sb://x/;SharedAccessKey=", letters(43) + "=", "")],
    "Azure client secret": [("", "abC" + "8Q" + "~" + letters(34), "")],
    "Discord webhook": [
        ("https://", "discord" + ".com/api/webhooks/123456789012345678/" + letters(68), " tells the team"),
    ],
    "Discord token": [("the bot had ", "MTIzNDU2Nzg5MDEyMzQ1Njc4" + "." + letters(6) + "." + letters(38), "")],
    "Telegram token": [("bot ", "1234567890" + ":AA" + letters(33), ", now revoked")],
    "Terraform token": [("", letters(14) + ".atlas" + "v1." + letters(67), "")],
    "Postman key": [("", "PM" + "AK-" + letters(24, _DIGITS) + "-" + letters(34, _DIGITS), "")],
    "Mailchimp key": [("", letters(32, _DIGITS) + "-us" + "12", ".")],
}

#: what it is called -> the prefix, cut where a scanner would look, what follows, and how much of it is given out
_ISSUED: list[tuple[str, str, str, int]] = [
    ("GitLab token", "gl|rt-", _ALL, 20),
    ("GitLab token", "gl|cbt-", _ALL, 20),
    ("Atlassian token", "ATA|TT3", _ALL, 180),
    ("Bitbucket app password", "AT|BB", _ALL, 32),
    ("Docker token", "dckr|_pat_", _ALL, 27),
    ("RubyGems key", "ruby|gems_", _DIGITS, 48),
    ("crates.io token", "ci|o", _ALL, 32),
    ("Buildkite token", "bk|ua_", _DIGITS, 40),
    ("CircleCI token", "CCI|PAT_", _ALL, 62),
    ("SonarQube token", "sq|p_", _DIGITS, 40),
    ("JFrog key", "AK|Cp", _ALL, 70),
    ("Sentry token", "snt|ryu_", _DIGITS, 64),
    ("Google access token", "ya|29.", _ALL, 120),
    ("Alibaba Cloud access key id", "LT|AI", _ALL, 20),
    ("DigitalOcean token", "dop|_v1_", _DIGITS, 64),
    ("Databricks token", "da|pi", _DIGITS, 32),
    ("HashiCorp Vault token", "hv|s.", _ALL, 90),
    ("PlanetScale token", "pscale|_tkn_", _ALL, 43),
    ("Supabase token", "sb|p_", _DIGITS, 40),
    ("Supabase key", "sb|_secret_", _ALL, 31),
    ("Vercel token", "vc|p_", _ALL, 56),
    ("Netlify token", "nf|p_", _ALL, 36),
    ("Fly.io token", "fm|2_", _ALL, 200),
    ("Fly.io token", "fo|1_", _ALL, 43),
    ("Heroku key", "HR|KU-", _ALL, 60),
    ("Pulumi token", "pu|l-", _DIGITS, 40),
    ("Tailscale key", "ts|key-auth-", _ALL, 40),
    ("Doppler token", "dp|.pt.", _ALL, 43),
    ("Doppler token", "dp|.st.dev_ci.", _ALL, 43),
    ("1Password service account token", "ops|_eyJ", _ALL, 400),
    ("age secret key", "AGE-SECRET|-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    ("Grafana token", "gl|sa_", _ALL, 41),
    ("Grafana Cloud token", "gl|c_", _ALL, 120),
    ("New Relic key", "NR|AK-", string.ascii_uppercase + string.digits, 27),
    ("Linear key", "lin|_api_", _ALL, 40),
    ("Notion token", "nt|n_", _ALL, 46),
    ("Notion token", "sec|ret_", _ALL, 43),
    ("Figma token", "fi|gd_", _ALL, 40),
    ("Contentful token", "CF|PAT-", _ALL, 43),
    ("Shopify token", "shp|at_", _DIGITS, 32),
    ("Square token", "sq|0atp-", _ALL, 22),
    ("Mailgun key", "ke|y-", _DIGITS, 32),
    ("Brevo key", "xkey|sib-", _DIGITS, 81),
    ("Groq key", "gs|k_", _ALL, 52),
    ("xAI key", "xa|i-", _ALL, 80),
    ("Perplexity key", "pp|lx-", _ALL, 48),
    ("OpenRouter key", "sk-|or-v1-", _DIGITS, 64),
    ("Replicate token", "r|8_", _ALL, 37),
    ("NVIDIA key", "nv|api-", _ALL, 64),
    ("LangSmith key", "ls|v2_pt_", _DIGITS, 43),
]
for _kind, _prefix, _alphabet, _count in _ISSUED:
    SECRETS.setdefault(_kind, []).append(("it was ", _prefix.replace("|", "") + letters(_count, _alphabet), ", once"))

CASES = [(kind, *parts) for kind, several in SECRETS.items() for parts in several]

#: What people write about secrets, ids, hashes and code. None of it may be refused.
INNOCENT = [
    "the token: authentication-middleware-v2 was removed",
    "password must be at least 12 characters",
    "password: must be at least 12 characters",
    "password: 8-64 characters",
    "rotate the API key",
    "The password: it must be long.",
    "password is base64-encoded",
    "the password was sha256-hashed before",
    "we keep the session token: it expires after 15 minutes",
    "Use a private key instead of a password.",
    "Basic authentication is dropped for bearer tokens; bearer token validation moved",
    "Bearer authentication-middleware-v2 is gone",
    "bypass: the compass=north-east-2 variant",
    "introduced by 3f786850e387550fdab836ed7e6dc881de23001b",
    "token=3f786850e387550fdab836ed7e6dc881de23001b",
    "event e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "secret: 123e4567-e89b-12d3-a456-426614174000",
    "password_hash = '$2b$12$abcdefghijklmnopqrstuv'",
    "secret: sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "integrity sha512-abc+def/ghi0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQ==",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU==",
    "password: <your password>",
    "password=$DB_PASSWORD",
    "password: ${{ secrets.DB_PASSWORD }}",
    "password=os.environ['DB_PASSWORD']",
    "password = get_password(user)",
    "password=self.password1",
    "password = nil",
    "password: required|min:12",
    "token = request.headers['X-Token']",
    "api_key: settings.API_KEY",
    "token: refresh_token_v2",
    "access_token: access_token_2024",
    "def login(password: str, token: Optional[str] = None)",
    "if (token === expectedToken1234567) return",
    "DB_PASSWORD=changeme",
    "DB_PASSWORD=xxxxxxxx",
    "password: ********",
    "password=password123",
    "'update_password': 'on_create'",
    "secret: see vault path secret/data/app1",
    "ghp_" + "x" * 36,
    "postgres://user:password@localhost/db",
    "postgres://postgres:postgres@localhost/db",
    "postgres://user:${PW}@host/db",
    "https://example.com:8080/@scope/pkg",
    "git@github.com:foo/bar.git",
    "SKIP the RISKY task-list",
    "malicious input reaches services/accounting/ledger-entries.py",
    "the cache key-value pairs of src/billing/invoices/monthly_report.py; pul-to-refresh",
    "secret_key_base_of_the_application_and_of_its_workers_too",
    "MTU and NTP on the ODT servers: see deployment/network/interfaces.d/eth0-us1-east",
    "the databricks dapi endpoint /api/2.0/clusters/list-node-types",
    "glc_exporter_configuration_of_the_second_cluster_in_europe_west",
    "tskey-rotation-of-the-whole-network-once-a-month",
    "sk-circle-fade-dot-animation-wrapper",
    "src/auth/token.py::Token.refresh",
    "deps/pyjwt",
    "env/STRIPE_SECRET_KEY",
]
