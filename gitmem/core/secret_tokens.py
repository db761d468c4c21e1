"""Tokens that tell by their spelling whose they are: a prefix of the provider's own, and what may follow it.

Written by hand from how each provider describes its tokens. Lengths are the least that count, well below what is
issued today, because a provider makes its tokens longer without telling anybody. What is left out: prefixes that
everyday words begin with, tokens without a prefix, and what a provider means to be public.

Data only: the first look of `secrets` reads the signs at each start, `secret_shapes` makes patterns of the rest.
"""

from __future__ import annotations

_LETTERS = "A-Za-z0-9"
_URL = "A-Za-z0-9_-"
_BASE64 = "A-Za-z0-9+/=_-"
_HEX = "0-9a-f"

#: (prefixes, what such a token is called, the letters that follow, how many of them at least)
PLAIN: tuple[tuple[str, str, str, int], ...] = (
    # where code lives, is built and published
    ("gldt- glrt- glcbt- glptt- glft- glimt- gloas- glsoat- glagent-", "GitLab token", _URL, 20),
    ("ATATT3", "Atlassian token", _BASE64, 60),
    ("ATBB", "Bitbucket app password", _LETTERS, 28),
    ("dckr_pat_ dckr_oat_", "Docker token", _URL, 20),
    ("rubygems_", "RubyGems key", _HEX, 40),
    ("cio", "crates.io token", _LETTERS, 32),
    ("bkua_", "Buildkite token", _HEX, 32),
    ("CCIPAT_", "CircleCI token", "A-Za-z0-9_", 30),
    ("sqp_ squ_ sqa_", "SonarQube token", _HEX, 36),
    ("AKCp", "JFrog key", _LETTERS, 50),
    ("sntrys_ sntryu_", "Sentry token", _BASE64, 40),
    # clouds, databases, and what runs on them
    ("ya29.", "Google access token", _URL, 40),
    ("LTAI", "Alibaba Cloud access key id", _LETTERS, 16),
    ("dop_v1_ doo_v1_ dor_v1_", "DigitalOcean token", _HEX, 48),
    ("dapi", "Databricks token", _HEX, 32),
    ("hvs. hvb. hvr.", "HashiCorp Vault token", _URL, 24),
    ("pscale_tkn_ pscale_pw_ pscale_oauth_", "PlanetScale token", _URL, 30),
    ("sbp_", "Supabase token", _HEX, 36),
    ("sb_secret_", "Supabase key", _URL, 20),
    ("vcp_ vci_ vca_ vcr_ vck_", "Vercel token", _LETTERS, 24),
    ("nfp_ nfc_ nfo_ nfu_", "Netlify token", _LETTERS, 30),
    ("fm1r_ fm1a_ fm2_", "Fly.io token", _BASE64, 60),
    ("fo1_", "Fly.io token", _URL, 36),
    ("HRKU-", "Heroku key", _URL, 36),
    ("pul-", "Pulumi token", _HEX, 40),
    ("tskey-", "Tailscale key", _URL, 24),
    ("dp.pt. dp.ct. dp.sa. dp.scim. dp.audit.", "Doppler token", _LETTERS, 36),
    ("ops_eyJ", "1Password service account token", _BASE64, 80),
    ("AGE-SECRET-KEY-1", "age secret key", "A-Z0-9", 50),
    # watching, and working together
    ("glsa_", "Grafana token", "A-Za-z0-9_", 32),
    ("glc_", "Grafana Cloud token", _BASE64, 40),
    ("NRAK-", "New Relic key", "A-Z0-9", 24),
    ("lin_api_ lin_oauth_", "Linear key", _LETTERS, 32),
    ("ntn_", "Notion token", _LETTERS, 40),
    ("secret_", "Notion token", _LETTERS, 43),
    ("figd_", "Figma token", _URL, 36),
    ("CFPAT-", "Contentful token", _URL, 40),
    # money and mail
    ("shpat_ shpca_ shppa_ shpss_", "Shopify token", "A-Fa-f0-9", 32),
    ("sq0atp- sq0csp-", "Square token", _URL, 22),
    ("key-", "Mailgun key", _HEX, 32),
    ("xkeysib-", "Brevo key", "0-9a-zA-Z-", 64),
    # models
    ("gsk_", "Groq key", _LETTERS, 40),
    ("xai-", "xAI key", _LETTERS, 60),
    ("pplx-", "Perplexity key", _LETTERS, 40),
    ("sk-or-v1-", "OpenRouter key", _HEX, 48),
    ("r8_", "Replicate token", _LETTERS, 32),
    ("nvapi-", "NVIDIA key", _URL, 50),
    ("lsv2_pt_ lsv2_sk_", "LangSmith key", "0-9a-f_", 40),
)

_BEFORE = r"(?<![A-Za-z0-9])"
_AFTER = r"(?![A-Za-z0-9])"
#: (one of these must be there, what it is called, pattern); the first group is the secret, else the whole match.
SHAPED: tuple[tuple[str, str, str], ...] = (
    ("AKIA ASIA ABIA ACCA", "AWS access key id", rf"{_BEFORE}A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16}}{_AFTER}"),
    ("github_pat_", "GitHub fine-grained token", rf"{_BEFORE}github_pat_[A-Za-z0-9_]{{22,}}+"),
    ("ghp_ gho_ ghu_ ghs_ ghr_", "GitHub token", rf"{_BEFORE}gh[pousr]_[A-Za-z0-9]{{30,}}+"),
    ("glpat-", "GitLab personal access token", rf"{_BEFORE}glpat-[A-Za-z0-9_-]{{20,}}+(?:\.[0-9a-z.]{{7,20}})?"),
    ("npm_", "npm token", rf"{_BEFORE}npm_[A-Za-z0-9]{{30,}}+"),
    ("pypi-AgE", "PyPI token", rf"{_BEFORE}pypi-AgE[A-Za-z0-9_-]{{32,}}+"),
    ("SG.", "SendGrid key", rf"{_BEFORE}SG\.[A-Za-z0-9_-]{{16,32}}\.[A-Za-z0-9_-]{{32,}}+"),
    ("SK", "Twilio key", rf"{_BEFORE}SK[0-9a-f]{{32}}{_AFTER}"),
    ("AC", "Twilio token", rf"{_BEFORE}AC[0-9a-f]{{32}}:([0-9a-f]{{32}}){_AFTER}"),  # the account, which is no secret
    ("hf_", "Hugging Face token", rf"{_BEFORE}hf_[A-Za-z0-9]{{30,}}+"),
    ("xox", "Slack token", rf"{_BEFORE}xox[a-z]-(?=[A-Za-z0-9-]{{0,8}}[0-9])[A-Za-z0-9-]{{10,}}+"),
    ("xapp-", "Slack token", rf"{_BEFORE}xapp-[0-9]-[A-Za-z0-9-]{{10,}}+"),
    (
        "hooks.slack.com",
        "Slack webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9]{6,16}/[A-Za-z0-9+/]{16,}+",
    ),
    ("/api/webhooks/", "Discord webhook", r"discord(?:app)?\.com/api/webhooks/[0-9]{12,24}/[A-Za-z0-9_-]{40,}+"),
    (
        # The number of an account, in base64: the first digit makes the first two letters one of these.
        "MD MT Mj Mz ND NT Nj Nz OD OT",
        "Discord token",
        r"(?<![A-Za-z0-9_-])[MNO][DTjz][A-Za-z0-9]{20,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",
    ),
    (":AA", "Telegram token", rf"{_BEFORE}[0-9]{{6,12}}:AA[A-Za-z0-9_-]{{32,}}+"),
    (
        "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_",
        "Stripe key",
        rf"{_BEFORE}[sr]k_(?:live|test|prod)_[A-Za-z0-9]{{10,}}+",
    ),
    ("whsec_", "Stripe webhook secret", rf"{_BEFORE}whsec_[A-Za-z0-9+/]{{24,}}+"),
    ("sk-ant-", "Anthropic key", rf"{_BEFORE}sk-ant-[a-z0-9]{{3,12}}-[A-Za-z0-9_-]{{20,}}+"),
    ("sk-proj- sk-svcacct- sk-admin-", "OpenAI key", rf"{_BEFORE}sk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{{20,}}+"),
    ("sk-", "OpenAI key", rf"{_BEFORE}sk-(?=[A-Za-z0-9]{{0,24}}[0-9])[A-Za-z0-9]{{20,}}+{_AFTER}"),
    ("AIza", "Google API key", rf"{_BEFORE}AIza[A-Za-z0-9_-]{{32,}}+"),
    ("GOCSPX-", "Google client secret", rf"{_BEFORE}GOCSPX-[A-Za-z0-9_-]{{20,}}+"),
    ("AccountKey", "Azure account key", r"AccountKey[ ]?=[ ]?([A-Za-z0-9+/]{40,}+={0,2})"),
    ("SharedAccessKey", "Azure shared access key", r"SharedAccessKey[ ]?=[ ]?([A-Za-z0-9+/]{32,}+={0,2})"),
    ("7Q~ 8Q~", "Azure client secret", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{30,}+"),
    (".atlasv1.", "Terraform token", rf"{_BEFORE}[A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{40,}}+"),
    ("dp.st.", "Doppler token", rf"{_BEFORE}dp\.st\.(?:[a-z0-9_-]{{2,35}}\.)?[A-Za-z0-9]{{36,}}+"),
    ("PMAK-", "Postman key", rf"{_BEFORE}PMAK-[0-9a-f]{{20,28}}-[0-9a-f]{{30,}}+"),
    (
        "-us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8 -us9",
        "Mailchimp key",
        rf"{_BEFORE}[0-9a-f]{{32}}-us[0-9]{{1,2}}{_AFTER}",
    ),
    (
        "PRIVATE",
        "private key",
        # With its end where that is there, else with the lines that can be of a key.
        r"-----BEGIN (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:[A-Za-z0-9+/=\s:,.()\\]|-(?!----))*+-----END (?:[A-Z0-9]{2,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:[\s\\nr]{0,4}[A-Za-z0-9+/=]{12,}+)*+)",
    ),
    (
        "eyJ",
        "JSON web token",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{8,}+",
    ),
)  # fmt: skip

#: Signs that are parts of everyday words too (task-list, malicious, DISK): they count in a text with a long word.
EVERYDAY = frozenset("SK AC SG. cio key- pul- sk- hf_ r8_ secret_ dapi MD MT Mj Mz ND NT Nj Nz OD OT".split())
#: No token with such a sign is shorter than this.
LONG = 22
#: Signs of what may have blanks in it; all else is one word.
SPACED = frozenset("PRIVATE AccountKey SharedAccessKey".split())
#: No word that is, or holds, one of the other tokens is shorter than this.
SHORTEST = 15
SIGNS = tuple(sign for signs in [row[0] for row in PLAIN] + [row[0] for row in SHAPED] for sign in signs.split())
