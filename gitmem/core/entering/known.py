"""Tables of names: what belongs to a language's own library, and what is imported under another name than its own."""

from __future__ import annotations

PYTHON = frozenset(
    """
    __future__ __main__ _typeshed abc aifc annotationlib antigravity argparse array ast asynchat asyncio
    asyncore atexit audioop base64 bdb binascii bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd
    code codecs codeop collections colorsys compileall compression concurrent configparser contextlib
    contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils
    doctest email encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib
    functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib
    imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale logging
    lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis
    nntplib nt ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools
    pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc
    pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select
    selectors shelve shlex shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile
    sre_constants sre_parse ssl stat statistics string stringprep struct subprocess sunau symtable sys sysconfig
    syslog tabnanny tarfile telnetlib tempfile termios textwrap this threading time timeit tkinter token
    tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing unicodedata unittest urllib
    uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp zipfile
    zipimport zlib zoneinfo
    """.split()
)
#: Names that a project gives its own folders; no distribution that one imports is called so.
PYTHON_OWN = frozenset("tests test testing conftest src app apps lib libs utils config settings scripts setup".split())
#: Top-level name of an import -> the distributions that bring it, where the name doesn't tell.
DISTRIBUTIONS = {
    "attr": ("attrs",), "bs4": ("beautifulsoup4",), "Crypto": ("pycryptodome", "pycrypto"), "cv2": ("opencv-python",),
    "dateutil": ("python-dateutil",), "decouple": ("python-decouple",), "discord": ("discord.py",),
    "docx": ("python-docx",), "dotenv": ("python-dotenv",), "environ": ("django-environ",), "fitz": ("pymupdf",),
    "flask_sqlalchemy": ("flask-sqlalchemy",), "git": ("gitpython",), "github": ("pygithub",), "grpc": ("grpcio",),
    "jose": ("python-jose",), "jwt": ("pyjwt",), "ldap": ("python-ldap",), "magic": ("python-magic",),
    "MySQLdb": ("mysqlclient",), "nacl": ("pynacl",), "OpenSSL": ("pyopenssl",), "PIL": ("pillow",),
    "pkg_resources": ("setuptools",), "psycopg2": ("psycopg2", "psycopg2-binary"), "pptx": ("python-pptx",),
    "rest_framework": ("djangorestframework",), "serial": ("pyserial",), "sklearn": ("scikit-learn",),
    "skimage": ("scikit-image",), "slugify": ("python-slugify",), "telegram": ("python-telegram-bot",),
    "usb": ("pyusb",), "yaml": ("pyyaml",), "zmq": ("pyzmq",), "corsheaders": ("django-cors-headers",),
    "debug_toolbar": ("django-debug-toolbar",), "django_filters": ("django-filter",), "storages": ("django-storages",),
    "allauth": ("django-allauth",), "celery_beat": ("django-celery-beat",), "graphene_django": ("graphene-django",),
    "ujson": ("ujson",), "multipart": ("python-multipart",), "fake_useragent": ("fake-useragent",),
    "igraph": ("python-igraph",), "Levenshtein": ("python-levenshtein", "levenshtein"), "markdown": ("markdown",),
    "mpl_toolkits": ("matplotlib",), "socks": ("pysocks",), "websocket": ("websocket-client",), "wx": ("wxpython",),
    "speech_recognition": ("speechrecognition",), "faiss": ("faiss-cpu", "faiss-gpu"), "haystack": ("django-haystack",),
}  # fmt: skip
#: Namespaces that many distributions share: the parts of the import's path make the name.
PYTHON_SHARED = frozenset("google azure zope sphinxcontrib backports ruamel jaraco opentelemetry airflow".split())
NODE = frozenset(
    """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns
    domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring
    readline repl sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi
    worker_threads zlib bun deno
    """.split()
)
RUBY = frozenset(
    """
    abbrev base64 benchmark bigdecimal bundler cgi coverage csv date dbm debug delegate did_you_mean digest drb
    English erb error_highlight etc expect fcntl fiddle fileutils find forwardable getoptlong io ipaddr irb json
    logger matrix minitest monitor mutex_m net nkf objspace observer open-uri open3 openssl optparse ostruct
    pathname pp prettyprint prime profile pstore psych pty racc rake rbconfig rdoc readline reline resolv rexml
    rinda ripper rss rubygems securerandom set shellwords singleton socket stringio strscan syslog tempfile test
    time timeout tmpdir tracer tsort un unicode_normalize uri weakref webrick win32ole yaml zlib thread rational
    complex enumerator fiber continuation test_helper spec_helper rails_helper helper
    """.split()
)
#: What is required under a name that isn't its gem's.
GEMS = {
    "active_record": "activerecord", "active_support": "activesupport", "active_model": "activemodel",
    "action_controller": "actionpack", "action_dispatch": "actionpack", "action_mailer": "actionmailer",
    "active_job": "activejob", "action_view": "actionview", "action_cable": "actioncable",
    "active_storage": "activestorage", "sidekiq/web": "sidekiq", "rack/test": "rack-test",
    "rspec/rails": "rspec-rails", "capybara/rails": "capybara", "bundler/setup": "bundler", "jwt": "jwt",
}  # fmt: skip
RUST = frozenset("std core alloc crate self super proc_macro test".split())
JAVA = (
    "java.", "javax.", "jdk.", "sun.", "com.sun.", "org.w3c.dom.", "org.xml.sax.", "kotlin.", "kotlinx.", "android.",
    "scala.", "groovy.", "dalvik.",
)  # fmt: skip
