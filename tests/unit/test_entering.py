"""What an edit brings in: tables by kind of file, each row with a twin that looks alike and brings in nothing."""

from __future__ import annotations

import pytest

from gitmem.core import entering, entities, vocabulary


def names(path: str, after: str | None, before: str | None = "") -> list[str]:
    return [one.name for one in entering.found(path, before, after)]


def check(path: str, text: str, expected: str, twin: str) -> None:
    """`text` brings in what is `expected`; `twin` nothing of it; and with the file as it is, it isn't new."""
    wanted = expected.lower().split()  # names match without case
    told = [one.lower() for one in names(path, text)]
    assert [one for one in wanted if one not in told] == []
    assert [one for one in names(path, twin) if one.lower() in wanted] == []
    assert names(path, text + "\n", text) == []
    # An unrelated line before it changes nothing; taking it away brings in nothing.
    assert names(path, "\n" + text, text) == []
    assert names(path, "", text) == []


# --- SQL --------------------------------------------------------------------------------------

SQL = [
    ("ALTER TABLE payments ADD COLUMN card_token text;", "ALTER TABLE payments DROP COLUMN card_token;"),
    ("alter table payments add column if not exists CARD_TOKEN text;", "-- alter table payments add card_token text"),
    ("ALTER TABLE IF EXISTS ONLY payments ADD card_token text;", "SELECT 'ALTER TABLE payments ADD card_token text'"),
    (
        "ALTER TABLE payments ADD a int, ADD COLUMN card_token text;",
        "ALTER TABLE payments ADD CONSTRAINT card_token UNIQUE (a)",
    ),
    ("ALTER TABLE payments ADD (a int, card_token text);", "ALTER TABLE refunds ADD (a int, card_token text);"),
    (
        'ALTER TABLE "public"."payments"\n  ADD COLUMN "card_token" text;',
        "CREATE VIEW payments AS SELECT card_token FROM x;",
    ),
    (
        "ALTER TABLE `payments` CHANGE `token` `card_token` text;",
        "ALTER TABLE `payments` CHANGE `card_token` `token` text;",
    ),
    (
        "ALTER TABLE payments MODIFY card_token varchar(64);",
        "/* ALTER TABLE payments MODIFY card_token varchar(64); */",
    ),
    (
        "ALTER TABLE payments RENAME COLUMN token TO card_token;",
        "ALTER TABLE payments RENAME COLUMN card_token TO token;",
    ),
    (
        "CREATE TABLE payments (id int, card_token text DEFAULT 'a, b');",
        "INSERT INTO payments (id, card_token) VALUES (1, 'x');",
    ),
    ("CREATE TABLE IF NOT EXISTS app.payments (\n  id int, -- the id\n  [card_token] text\n)", "DROP TABLE payments;"),
    ("CREATE TABLE payments AS SELECT a, b AS card_token FROM x;", "SELECT card_token FROM payments;"),
    (
        "DO $$ BEGIN ALTER TABLE payments ADD card_token text; END $$;",
        "CREATE FUNCTION f() RETURNS void AS $$ ALTER TABLE payments ADD card_token text; $$",
    ),
    (
        "EXEC sp_rename 'dbo.payments.token', 'card_token', 'COLUMN'",
        "EXEC sp_rename 'dbo.payments.card_token', 'token', 'COLUMN'",
    ),
]


@pytest.mark.parametrize(("text", "twin"), SQL)
def test_sql_files(text: str, twin: str) -> None:
    told = entering.found("db/migrations/0007_cards.sql", "", text)
    assert "payments.card_token" in [one.name.lower() for one in told]
    assert {one.entity_type for one in told} <= {"column", "table"}
    assert "payments.card_token" not in names("db/migrations/0007_cards.sql", twin)


def test_tables_and_indexes_of_sql() -> None:
    text = "CREATE TABLE app.users (id int, INDEX by_id (id));\nALTER TABLE a RENAME TO b;\nCREATE INDEX i ON t (x);"
    assert [(one.name, one.entity_type, one.line) for one in entering.found("x.sql", "", text)] == [
        ("app.users", "table", 1),
        ("users", "table", 1),
        ("app.users.id", "column", 1),
        ("users.id", "column", 1),
        ("app.users.by_id", "index", 1),
        ("users.by_id", "index", 1),
        ("by_id", "index", 1),
        ("b", "table", 2),
        ("t.i", "index", 3),
        ("i", "index", 3),
    ]
    assert names("x.sql", "CREATE VIEW v AS SELECT a FROM t; CREATE TEMP TABLE x (a int); DROP INDEX i") == []


def test_the_way_back_of_sql_is_no_way_in() -> None:
    text = "-- +goose Up\nALTER TABLE t ADD a int;\n-- +goose Down\nALTER TABLE t ADD b int;"
    assert names("m.sql", text) == ["t.a"]
    assert names("1.down.sql", "ALTER TABLE t ADD a int") == []
    assert names("1.up.sql", "ALTER TABLE t ADD a int") == ["t.a"]


def test_a_column_enters_where_the_name_of_its_table_changes() -> None:
    before = "ALTER TABLE refunds\n  ADD COLUMN card_token text;"
    assert names("m.sql", before.replace("refunds", "payments"), before) == ["payments.card_token"]
    assert names("m.sql", before.replace("text", "varchar(9)"), before) == []


IN_STRINGS = [
    (
        "m/1.py",
        'op.execute("ALTER TABLE payments ADD card_token text")',
        'raise Error("could not ALTER TABLE payments ADD card_token text")',
    ),
    (
        "m/1.py",
        'sql = """\n  -- cards\n  ALTER TABLE payments ADD card_token text"""',
        '"""Later we do this: ALTER TABLE payments ADD card_token text"""',
    ),
    (
        "m/1.ts",
        "await q.query(`ALTER TABLE payments ADD card_token text`)",
        "// await q.query(`ALTER TABLE payments ADD card_token text`)",
    ),
    (
        "m/1.rb",
        "execute <<~SQL\n  ALTER TABLE payments ADD card_token text;\nSQL\n",
        "# execute 'ALTER TABLE payments ADD card_token text'",
    ),
    (
        "m/1.go",
        "db.Exec(`ALTER TABLE payments ADD card_token text`)",
        "/* db.Exec(`ALTER TABLE payments ADD card_token text`) */",
    ),
    (
        "m/1.rs",
        'sqlx::query(r#"ALTER TABLE payments ADD card_token text"#)',
        '// sqlx::query(r#"ALTER TABLE payments ADD card_token text"#)',
    ),
    (
        "m/A.java",
        'jdbc.execute("""\nALTER TABLE payments ADD card_token text""");',
        '// jdbc.execute("ALTER TABLE payments ADD card_token text");',
    ),
    (
        "m/1.php",
        "<?php\nDB::statement('ALTER TABLE payments ADD card_token text');",
        "<?php\n# DB::statement('ALTER TABLE payments ADD card_token text');",
    ),
    (
        "m/1.cs",
        'migrationBuilder.Sql("ALTER TABLE payments ADD card_token text");',
        '// migrationBuilder.Sql("ALTER TABLE payments ADD card_token text");',
    ),
    (
        "m/1.exs",
        'execute "ALTER TABLE payments ADD card_token text"',
        '# execute "ALTER TABLE payments ADD card_token text"',
    ),
]


@pytest.mark.parametrize(("path", "text", "twin"), IN_STRINGS)
def test_sql_in_strings_of_code(path: str, text: str, twin: str) -> None:
    check(path, text, "payments.card_token", twin)


# --- models and their migrations --------------------------------------------------------------

DJANGO = "from django.db import models\n\nclass Payment(models.Model):\n    "
ORM = [
    (
        "payments/models.py",
        DJANGO + "card_token = models.CharField(max_length=3)",
        "payments_payment.card_token payment.card_token payments.card_token",
        DJANGO + "# card_token = models.CharField(max_length=3)",
    ),
    (
        "payments/models/cards.py",
        DJANGO + "user = ForeignKey(User)\n    class Meta:\n        db_table = 'cards'",
        "cards cards.user cards.user_id",
        "class Payment(serializers.Serializer):\n    user = serializers.CharField()",
    ),
    (
        "shop/models.py",
        DJANGO + "x = models.CharField(\n        db_column='card_token',\n    )",
        "shop_payment.card_token",
        DJANGO + "x = 'models.CharField(db_column=\"card_token\")'",
    ),
    (
        "payments/migrations/0002_x.py",
        "migrations.AddField(\n    model_name='payment',\n    name='card_token',\n    field=models.CharField(),\n)",
        "payments_payment.card_token payments.card_token",
        "migrations.RemoveField(\n    model_name='payment',\n    name='card_token',\n)",
    ),
    (
        "payments/migrations/0001_x.py",
        "migrations.CreateModel(name='Payment', fields=[('id', models.AutoField()), ('user', models.ForeignKey('u'))])",
        "payments_payment payments_payment.id payments_payment.user_id",
        "migrations.DeleteModel(name='Payment')",
    ),
    (
        "payments/migrations/0003_x.py",
        "migrations.RenameField('payment', 'token', 'card_token')",
        "payments_payment.card_token",
        "migrations.RenameField('payment', 'card_token', 'token')",
    ),
    (
        "a/migrations/0003_x.py",
        "migrations.RunSQL('ALTER TABLE t ADD a int', 'ALTER TABLE t ADD b int')",
        "t.a",
        "migrations.RunSQL('ALTER TABLE t DROP a', reverse_sql='ALTER TABLE t ADD a int')",
    ),
    (
        "app/db.py",
        "class Payment(Base):\n    __tablename__ = 'payments'\n    card_token = Column(String)",
        "payments payments.card_token",
        "class Payment:\n    card_token = Columns(String)",
    ),
    (
        "app/db.py",
        "class Payment(Base):\n    card_token: Mapped[str | None]\n    n = mapped_column('nn', Integer)",
        "payments.card_token payments.nn",
        "class Payment(Base):\n    card_token: Mapped[list['Card']] = relationship()",
    ),
    (
        "app/db.py",
        "payments = Table('payments', meta, Column('card_token', String))",
        "payments payments.card_token",
        "table = Table('payments')\ntable.add_column('card_token')",
    ),
    (
        "alembic/versions/1.py",
        "def upgrade():\n    op.add_column('payments', sa.Column('card_token', sa.String()))",
        "payments.card_token",
        "def upgrade():\n    op.drop_column('payments', 'card_token')\n\ndef downgrade():\n"
        "    op.add_column('payments', sa.Column('card_token', sa.String()))",
    ),
    (
        "alembic/versions/1.py",
        "op.create_table('payments', sa.Column('card_token', sa.String()), schema='app')",
        "payments app.payments payments.card_token app.payments.card_token",
        "op.drop_table('payments')",
    ),
    (
        "alembic/versions/1.py",
        "with op.batch_alter_table('payments') as b:\n    b.add_column(sa.Column('card_token'))",
        "payments.card_token",
        "with op.batch_alter_table('payments') as b:\n    b.drop_column('card_token')",
    ),
    (
        "alembic/versions/1.py",
        "op.alter_column('payments', 'token', new_column_name='card_token')",
        "payments.card_token",
        "op.alter_column('payments', 'card_token', nullable=True)",
    ),
    (
        "prisma/schema.prisma",
        'model Payment {\n  id Int @id\n  cardToken String @map("card_token")\n}',
        "payments.card_token Payment.cardToken",
        'model Payment {\n  id Int @id\n  // cardToken String @map("card_token")\n}\nenum P { cardToken }',
    ),
    (
        "prisma/schema.prisma",
        'model Pay {\n  user User @relation(fields: [userId])\n  userId Int\n  @@map("payments")\n}'
        "\nmodel User {\n  id Int\n}",
        "payments payments.userId users.id",
        "model Pay {\n  userId Int\n}",
    ),
    (
        "db/migrate/1_x.rb",
        "add_column :payments, :card_token, :string, null: false",
        "payments.card_token",
        "remove_column :payments, :card_token, :string",
    ),
    (
        "db/migrate/1_x.rb",
        "def up\n  add_column :t, :a, :string\nend",
        "t.a",
        "class X < M\n  def up\n    remove_column :t, :a\n  end\n\n  def down\n"
        "    add_column :t, :a, :string\n  end\nend",
    ),
    (
        "db/migrate/1_x.rb",
        "create_table :payments do |t|\n  t.string :card_token, :other\n  t.references :user\n  t.timestamps\nend",
        "payments payments.card_token payments.other payments.user_id payments.created_at",
        "drop_table :payments do |t|\n  t.string :card_token\nend",
    ),
    (
        "db/migrate/1_x.rb",
        "change_table(:payments) do |t|\n  t.rename :token, :card_token\nend",
        "payments.card_token",
        "change_table(:payments) do |t|\n  t.remove :card_token\nend",
    ),
    (
        "db/schema.rb",
        '  create_table "payments", force: :cascade do |t|\n    t.string "card_token", default: ""\n  end',
        "payments payments.card_token",
        '  # create_table "payments" do |t|\n    t.string "card_token"\n  # end',
    ),
    (
        "db/migrate/1_x.rb",
        "add_index :users, [:a, :b]\nrename_column :users, :x, :y",
        "users.index_users_on_a_and_b users.y",
        "remove_index :users, [:a, :b]\nrename_column :users, :y, :x",
    ),
    (
        "m/1.ts",
        "await queryRunner.addColumn('payments', new TableColumn({ name: 'card_token' }))",
        "payments.card_token",
        "await queryRunner.dropColumn('payments', 'card_token')",
    ),
    (
        "m/1.js",
        "queryInterface.addColumn('payments', 'card_token', Sequelize.STRING)",
        "payments.card_token",
        "module.exports = { up: (q) => q.removeColumn('payments', 'card_token'),\n"
        "  down: (q) => { return q.addColumn('payments', 'card_token', X) } }",
    ),
    (
        "m/1.js",
        "knex.schema.alterTable('payments', (t) => { t.string('card_token') })",
        "payments.card_token",
        "knex.schema.alterTable('payments', (t) => { t.dropColumn('card_token') })",
    ),
    (
        "m/1.js",
        "knex.schema.createTable('payments', function (t) { t.increments('id'); t.timestamps() })",
        "payments payments.id payments.created_at",
        "knex.schema.dropTable('payments')",
    ),
    (
        "e/pay.ts",
        "@Entity('payments')\nexport class Pay {\n  @Column({ nullable: true })\n  cardToken?: string;\n}",
        "payments payments.cardToken payments.card_token",
        "export class Pay {\n  cardToken?: string;\n}",
    ),
    (
        "s/schema.ts",
        "export const p = pgTable('payments', { cardToken: text('card_token') });",
        "payments payments.cardToken payments.card_token",
        "const p = table({ cardToken: text('card_token') });",
    ),
    (
        "m/pay.js",
        "const P = sequelize.define('Payment', { cardToken: { type: S, field: 'card_token' } });",
        "payments payments.card_token",
        "define('Payment', { cardToken: 1 });",
    ),
    (
        "src/P.java",
        '@Entity @Table(name = "payments")\nclass P {\n  @Column(name = "card_token") private String t;\n}',
        "payments payments.card_token",
        "class P {\n  private String card_token;\n}",
    ),
    (
        "m.go",
        'type Payment struct {\n\tCardToken string `gorm:"size:3"`\n}',
        "payments payments.card_token",
        "type Payment struct {\n\tCardToken string\n}",
    ),
    (
        "schema.rs",
        "table! {\n    payments (id) {\n        card_token -> Text,\n    }\n}",
        "payments payments.card_token",
        "vec! { payments (id) { card_token } }",
    ),
    (
        "m.php",
        "<?php Schema::table('payments', function ($t) { $t->string('card_token'); });",
        "payments.card_token",
        "<?php Schema::table('payments', function ($t) { $t->dropColumn('card_token'); });",
    ),
    (
        "m.exs",
        "alter table(:payments) do\n  add :card_token, :string\nend",
        "payments.card_token",
        "alter table(:payments) do\n  remove :card_token\nend",
    ),
]


@pytest.mark.parametrize(("path", "text", "expected", "twin"), ORM)
def test_columns_of_models_and_migrations(path: str, text: str, expected: str, twin: str) -> None:
    check(path, text, expected, twin)


# --- manifests --------------------------------------------------------------------------------

MANIFESTS = [
    (
        "requirements.txt",
        "Flask_SQLAlchemy[x]>=1 ; python_version < '3'",
        "deps/Flask_SQLAlchemy deps/flask-sqlalchemy",
        "# Flask_SQLAlchemy\n-r flask-sqlalchemy.txt",
    ),
    ("requirements/dev.in", "a\nredis == 4.0  # cache", "deps/redis", "--find-links redis"),
    (
        "requirements.txt",
        "-e git+https://x.example/r.git#egg=redis",
        "deps/redis",
        "-e git+https://x.example/redis.git",
    ),
    (
        "pyproject.toml",
        '[project]\ndependencies = [\n  "redis>=4", # why\n]',
        "deps/redis",
        '[project]\ndescription = "redis"\n# dependencies = ["redis"]\nkeywords = ["redis"]',
    ),
    (
        "pyproject.toml",
        "[project.optional-dependencies]\ncache = ['redis']\n[dependency-groups]\n"
        'test = ["pytest", {include-group = "x"}]',
        "deps/redis deps/pytest",
        "[tool.x]\ncache = ['redis']\n[dependency-groups]\nx = [{include-group = \"pytest\"}]",
    ),
    (
        "pyproject.toml",
        '[tool.poetry.dependencies]\npython = "^3"\nredis = {version = "4"}\n'
        '[tool.poetry.group.dev.dependencies]\nblack = "*"',
        "deps/redis deps/black",
        '[tool.poetry.scripts]\nredis = "a:b"\nblack = "c:d"',
    ),
    (
        "pyproject.toml",
        '[tool.poetry.dependencies.redis]\nversion = "4"',
        "deps/redis",
        '[tool.poetry.plugins.redis]\nx = "4"',
    ),
    (
        "setup.py",
        "setup(install_requires=['redis>=4'], extras_require={'x': ['black']})",
        "deps/redis deps/black",
        "setup(name='redis', keywords=['black'])",
    ),
    (
        "setup.cfg",
        "[options]\ninstall_requires =\n    redis>=4\n[options.extras_require]\nx = black",
        "deps/redis deps/black",
        "[metadata]\nname = redis\n[options]\npackages =\n    black",
    ),
    (
        "Pipfile",
        '[packages]\nredis = "*"\n[dev-packages]\nblack = {version = "*"}',
        "deps/redis deps/black",
        '[scripts]\nredis = "*"\n[requires]\nblack = "3"',
    ),
    (
        "package.json",
        '{"dependencies": {"left-pad": "1", "@a/b": "2"}, "devDependencies": {"jest": "1"}}',
        "deps/left-pad deps/@a/b deps/a/b deps/jest",
        '{"name": "left-pad", "scripts": {"jest": "@a/b"}, "keywords": ["left-pad"]}',
    ),
    (
        "web/package.json",
        '{"dependencies": {"x": "npm:left-pad@1"',
        "deps/x deps/left-pad",
        '{"overrides": {"left-pad": "1"}}',
    ),
    (
        "Cargo.toml",
        '[dependencies]\nserde_json = "1"\nx = { package = "real-x", version = "1" }\ntokio.workspace = true',
        "deps/serde_json deps/serde-json deps/x deps/real-x deps/tokio",
        '[package]\nname = "serde_json"\n[features]\ntokio = []',
    ),
    (
        "Cargo.toml",
        '[workspace.dependencies]\na = "1"\n[target.\'cfg(unix)\'.dependencies]\nb = "1"\n'
        '[dev-dependencies.c]\nversion = "1"',
        "deps/a deps/b deps/c",
        "[profile.a]\nb = 1\nc = 2",
    ),
    (
        "go.mod",
        "module m\n\nrequire (\n\tgithub.com/redis/go-redis/v9 v9.0.1 // indirect\n)\n",
        "deps/github.com/redis/go-redis/v9 deps/github.com/redis/go-redis deps/go-redis",
        "module github.com/redis/go-redis\n\ngo 1.22\nexclude github.com/redis/go-redis v1\n"
        "// require github.com/redis/go-redis v9",
    ),
    (
        "Gemfile",
        "gem 'sidekiq', '~> 7'\ngroup :test do\n  gem(\"rspec\")\nend",
        "deps/sidekiq deps/rspec",
        "# gem 'sidekiq'\nsource 'rspec'",
    ),
    (
        "x.gemspec",
        "Gem::Specification.new do |s|\n  s.add_dependency 'sidekiq'\n  s.add_development_dependency(\"rspec\")\nend",
        "deps/sidekiq deps/rspec",
        "Gem::Specification.new do |s|\n  s.name = 'sidekiq'\nend",
    ),
    (
        "pom.xml",
        "<dependency>\n<groupId>com.stripe</groupId>\n<artifactId>stripe-java</artifactId>\n</dependency>",
        "deps/com.stripe:stripe-java deps/stripe-java",
        "<project><artifactId>stripe-java</artifactId><!-- <dependency><artifactId>stripe-java</artifactId>"
        "</dependency> -->"
        "<dependency><artifactId>x</artifactId><exclusions><exclusion><artifactId>stripe-java</artifactId>"
        "</exclusion></exclusions></dependency>",
    ),
    (
        "build.gradle",
        "dependencies {\n  implementation 'com.stripe:stripe-java:1'\n  api group: 'g', name: 'n'\n}",
        "deps/com.stripe:stripe-java deps/stripe-java deps/g:n",
        "dependencies {\n  // implementation 'com.stripe:stripe-java:1'\n}\nversion = 'g:n'",
    ),
    (
        "app/build.gradle.kts",
        'dependencies {\n  testImplementation("g:n:1")\n  implementation(platform("a:bom:1"))\n}',
        "deps/g:n deps/a:bom",
        'println("g:n:1")',
    ),
    (
        "gradle/libs.versions.toml",
        '[libraries]\na = { module = "g:n", version.ref = "v" }\nb = "h:m:1"\nc = { group = "i", name = "o" }',
        "deps/g:n deps/h:m deps/i:o",
        '[versions]\na = "g:n"\nb = "h:m:1"',
    ),
    (
        "composer.json",
        '{"require": {"php": ">=8", "stripe/stripe-php": "1"}}',
        "deps/stripe/stripe-php deps/stripe-php",
        '{"name": "stripe/stripe-php"}',
    ),
]


@pytest.mark.parametrize(("path", "text", "expected", "twin"), MANIFESTS)
def test_dependencies_in_manifests(path: str, text: str, expected: str, twin: str) -> None:
    check(path, text, expected, twin)
    assert {one.entity_type for one in entering.found(path, "", text)} == {"dependency"}


@pytest.mark.parametrize(
    "path",
    [
        "package-lock.json",
        "yarn.lock",
        "Cargo.lock",
        "poetry.lock",
        "Gemfile.lock",
        "go.sum",
        "uv.lock",
        "Pipfile.lock",
    ],
)
def test_a_lock_file_is_no_manifest(path: str) -> None:
    text = '{"dependencies": {"left-pad": {"version": "1"}}}\n[[package]]\nname = "left-pad"\ngem "left-pad"'
    assert names(path, text) == []


def test_a_new_version_is_no_new_dependency() -> None:
    assert names("requirements.txt", "redis==5\n", "redis==4\n") == []
    assert names("package.json", '{"dependencies": {"a": "2"}}', '{"dependencies": {"a": "1"}}') == []
    assert names("pyproject.toml", '[dependency-groups]\nx = ["Redis"]', '[project]\ndependencies = ["redis>=4"]') == []


# --- imports ----------------------------------------------------------------------------------

IMPORTS = [
    (
        "a.py",
        "import redis, yaml as y",
        "deps/redis deps/pyyaml deps/yaml",
        "import os, json\nfrom . import redis\n'import redis'",
    ),
    ("a.py", "def f():\n    from redis.client import X", "deps/redis", "from .redis import X\n# import redis"),
    ("a.py", "from google.cloud import storage", "deps/google-cloud-storage", "from google import cloud"),
    ("redis/a.py", "import stripe", "deps/stripe", "import redis.b"),
    (
        "a.ts",
        "import { a } from 'left-pad/x'\nexport * from \"@a/b/c\"",
        "deps/left-pad deps/@a/b",
        "import a from './left-pad'\nimport fs from 'node:fs'\nimport p from 'path'\nimport x from '@/b'",
    ),
    (
        "a.js",
        "const a = require('left-pad')\nconst b = await import('jest')",
        "deps/left-pad deps/jest",
        "// require('left-pad')\nconst a = 'require(\"jest\")'\nrequire(name)",
    ),
    (
        "a.go",
        'import (\n\t"fmt"\n\tr "github.com/redis/go-redis/v9"\n)',
        "deps/github.com/redis/go-redis deps/go-redis",
        'import (\n\t"fmt"\n\t// "github.com/redis/go-redis/v9"\n)',
    ),
    (
        "a.rs",
        "use serde_json::Value;\nextern crate redis;",
        "deps/serde_json deps/serde-json deps/redis",
        "mod redis;\nuse std::env;\nuse crate::serde_json;\nuse redis::x;",
    ),
    (
        "A.java",
        "package a.b.c;\nimport com.stripe.Stripe;\nimport com.google.gson.Gson;",
        "deps/com.stripe deps/stripe deps/gson",
        "package com.stripe.x;\nimport java.util.List;\nimport com.stripe.y.Z;\n// import com.google.gson.Gson;",
    ),
    (
        "a.rb",
        "require 'stripe'\nrequire \"aws-sdk/s3\"\nrequire 'active_record'",
        "deps/stripe deps/aws-sdk-s3 deps/activerecord",
        "require 'json'\nrequire_relative 'stripe'\n# require 'active_record'",
    ),
]


@pytest.mark.parametrize(("path", "text", "expected", "twin"), IMPORTS)
def test_dependencies_in_imports(path: str, text: str, expected: str, twin: str) -> None:
    check(path, text, expected, twin)


# --- environment variables --------------------------------------------------------------------

ENVIRONMENT = [
    ("a.py", "import os\nos.environ['STRIPE_KEY']", "os.environ\n'STRIPE_KEY'\n# os.environ['STRIPE_KEY']"),
    ("a.py", "x = os.getenv(\"STRIPE_KEY\", '')", "STRIPE_KEY = 1"),
    ("a.py", "from os import environ\nenviron.get('STRIPE_KEY')", "get('STRIPE_KEY')"),
    ("a.py", "if 'STRIPE_KEY' in os.environ: pass", "if 'STRIPE_KEY' in x: pass"),
    ("a.py", "KEY = env.str('STRIPE_KEY')", "KEY = text.str('STRIPE_KEY')"),
    ("a.py", "class S(BaseSettings):\n    stripe_key: str", "class S(Other):\n    stripe_key: str"),
    ("a.ts", "process.env.STRIPE_KEY", "// process.env.STRIPE_KEY"),
    ("a.ts", "`key: ${process.env.STRIPE_KEY}`", "`key: {process.env.STRIPE_KEY}`"),
    ("a.rb", "\"key: #{ENV['STRIPE_KEY']}\"", "'key: ENV[STRIPE_KEY]'"),
    ("a.py", "x = f\"{os.environ['STRIPE_KEY']}\"", "x = \"{os.environ['STRIPE_KEY']}\""),
    ("a.ts", "process.env['STRIPE_KEY']", "env['STRIPE_KEY']"),
    ("a.ts", "const { STRIPE_KEY, B } = process.env", "const { STRIPE_KEY, B } = other"),
    ("a.ts", "import.meta.env.STRIPE_KEY", "import.meta.STRIPE_KEY"),
    ("a.rb", "ENV['STRIPE_KEY']", "# ENV['STRIPE_KEY']"),
    ("a.rb", 'ENV.fetch("STRIPE_KEY") { 1 }', 'H.fetch("STRIPE_KEY")'),
    ("a.rs", 'std::env::var("STRIPE_KEY")', 'std::var("STRIPE_KEY")'),
    ("a.go", 'os.Getenv("STRIPE_KEY")', 'os.Open("STRIPE_KEY")'),
    (
        "a.go",
        'type C struct {\n\tK string `env:"STRIPE_KEY,required"`\n}',
        'type C struct {\n\tK string `json:"STRIPE_KEY"`\n}',
    ),
    ("A.java", 'System.getenv("STRIPE_KEY");', '// System.getenv("STRIPE_KEY");'),
    ("A.java", '@Value("${STRIPE_KEY:x}") String a;', 'String a = "${STRIPE_KEY}";'),
    ("a.php", "<?php getenv('STRIPE_KEY');", "<?php f('STRIPE_KEY');"),
    ("a.exs", 'System.fetch_env!("STRIPE_KEY")', '# System.fetch_env!("STRIPE_KEY")'),
    (".env.example", "STRIPE_KEY=", "# STRIPE_KEY="),
    ("deploy/.env", "A=${STRIPE_KEY}", "A=STRIPE_KEY"),
    ("Dockerfile", "FROM x\nENV A=1 \\\n    STRIPE_KEY=2", "FROM x\nRUN make STRIPE_KEY=2\n# ENV STRIPE_KEY=1"),
    (
        "docker-compose.yml",
        "services:\n  a:\n    environment:\n      - STRIPE_KEY",
        "services:\n  a:\n    command:\n      - STRIPE_KEY",
    ),
    ("compose.yaml", "services:\n  a:\n    image: x:${STRIPE_KEY:-1}", "services:\n  a:\n    image: x:STRIPE_KEY"),
    (".github/workflows/ci.yml", "env:\n  STRIPE_KEY: ${{ secrets.A }}", "with:\n  STRIPE_KEY: 1"),
    (".github/workflows/ci.yml", "with:\n  a: ${{ secrets.STRIPE_KEY }}", "with:\n  a: ${{ needs.STRIPE_KEY }}"),
    ("k8s/a.yaml", "env:\n  - name: STRIPE_KEY\n    value: x", "args:\n  - name: STRIPE_KEY"),
    ("schema.prisma", 'url = env("STRIPE_KEY")', '// env("STRIPE_KEY")'),
]


@pytest.mark.parametrize(("path", "text", "twin"), ENVIRONMENT)
def test_environment_variables(path: str, text: str, twin: str) -> None:
    check(path, text, "env/STRIPE_KEY", twin)


# --- routes -----------------------------------------------------------------------------------

ROUTES = [
    (
        "a.py",
        "@app.get('/api/v1/users/{id}')\ndef f(): pass",
        "api/v1/users/{id} api/v1/users/:id",
        "requests.get('/api/v1/users/{id}')",
    ),
    (
        "a.py",
        "bp = Blueprint('x', __name__, url_prefix='/v1')\n@bp.route('/users/<int:id>')\ndef f(): pass",
        "api/v1/users/{id}",
        "bp = Blueprint('x', __name__, url_prefix='/v1')\n# @bp.route('/users/<int:id>')",
    ),
    (
        "a.py",
        "router = APIRouter(prefix='/v1/users')\n@router.post('')\ndef f(): pass",
        "api/v1/users",
        "router = APIRouter(prefix='/v1/users')",
    ),
    (
        "x/urls.py",
        "urlpatterns = [path('v1/users/<int:pk>/', v), re_path(r'^v2/(?P<id>\\d+)/$', w)]",
        "api/v1/users/{pk} api/v2/{id}",
        "urlpatterns = [\n# path('v1/users/<int:pk>/', v)\n]",
    ),
    ("a.js", "router.post('/v1/users/:id', h)", "api/v1/users/:id api/v1/users/{id}", "axios.post('/v1/users/:id', h)"),
    (
        "a.ts",
        "fastify.route({ method: 'GET', url: '/v1/users' })",
        "api/v1/users",
        "fetch({ method: 'GET', url: '/v1/users' })",
    ),
    (
        "a.ts",
        "@Controller('v1/users')\nclass C {\n  @Get(':id') one() {}\n}",
        "api/v1/users/{id}",
        "class C {\n  // @Get(':id')\n  one() {}\n}",
    ),
    (
        "config/routes.rb",
        "namespace :v1 do\n  resources :users\nend",
        "api/v1/users api/v1/users/:id",
        "namespace :v1 do\n  # resources :users\nend",
    ),
    ("config/routes.rb", "get '/v1/users' => 'users#index'", "api/v1/users", "root 'users#index'"),
    (
        "A.java",
        '@RequestMapping("/v1")\nclass A {\n  @GetMapping("/users/{id}")\n  public int f() { return 1; }\n}',
        "api/v1/users/{id}",
        'class A {\n  // @GetMapping("/users/{id}")\n}',
    ),
    (
        "a.go",
        'http.HandleFunc("GET /v1/users/{id}", h)',
        "api/v1/users/{id}",
        'http.Get("https://x.example/v1/users/{id}")',
    ),
    ("a.go", 'g := r.Group("/v1")\ng.POST("/users", h)', "api/v1/users", 'g := r.Group("/v1")\ng.Log("/users", h)'),
    ("a.rs", '#[get("/v1/users/{id}")]\nasync fn f() {}', "api/v1/users/{id}", '// #[get("/v1/users/{id}")]'),
    ("a.rs", 'Router::new().route("/v1/users", get(f))', "api/v1/users", 'f("/v1/users")'),
]


@pytest.mark.parametrize(("path", "text", "expected", "twin"), ROUTES)
def test_routes(path: str, text: str, expected: str, twin: str) -> None:
    check(path, text, expected, twin)


def test_a_file_that_is_a_route() -> None:
    told = names("app/api/v1/users/[id]/route.ts", "export const a = 1", None)
    assert told[0] == "app/api/v1/users/[id]/route.ts"
    assert "api/v1/users/{id}" in told
    assert names("app/lib/v1/users/route.ts", "export const a = 1", None) == ["app/lib/v1/users/route.ts"]


# --- symbols ----------------------------------------------------------------------------------

SYMBOLS = [
    ("src/a.py", "async def login(a):\n    pass", "src/a.py::login", "# def login(a):\n'''\ndef login(a): pass\n'''"),
    (
        "src/a.py",
        "class A:\n    x = 1\n    def charge(self):\n        def f(): pass",
        "src/a.py::A src/a.py::A.charge src/a.py::A.charge.f",
        "A.charge()\nx = A",
    ),
    (
        "src/a.ts",
        "export async function login() {}\nconst f = async (a: B): C => {}\nlet g = function () {}",
        "src/a.ts::login src/a.ts::f src/a.ts::g",
        "login()\nconst f = (a)\nlet g = h(() => 1)\n// function login() {}",
    ),
    (
        "src/a.ts",
        "export class A<T> extends B {\n  static async charge(x) { if (y) { z(1) } }\n  #p() {}\n"
        "  f = (e) => { e() }\n}",
        "src/a.ts::A src/a.ts::A.charge src/a.ts::A.#p src/a.ts::A.f",
        "class B { constructor() { this.charge(1); f() } }",
    ),
    (
        "a.go",
        "func Login() {}\nfunc (s *Server) Charge(x int) error { return nil }\ntype Server struct {\n}",
        "a.go::Login a.go::Server.Charge a.go::Server",
        "// func Login() {}\nx.Charge(1)\nvar s Server",
    ),
    (
        "a.rs",
        "pub fn login<'a>(x: &'a str) {}\nimpl<T> D for Token<T> {\n    fn charge(&self) {}\n}\nstruct Token;",
        "a.rs::login a.rs::Token.charge a.rs::Token::charge a.rs::Token",
        "// fn login() {}\nlogin(); Token::charge();",
    ),
    (
        "a.rb",
        "module A\n  class B < C\n    def self.charge!(x)\n    end\n  end\nend",
        "a.rb::A a.rb::A.B a.rb::A.B.charge! a.rb::A::B#charge!",
        "A::B.charge!(1)\n# def charge!",
    ),
    (
        "A.java",
        "public class A {\n  A() { super(); }\n"
        "  public List<B> charge(int a) throws X { if (a) { b(); } return new C(); }\n}",
        "A.java::A A.java::A.charge A.java::A.A",
        "class B { int x = charge(1); }",
    ),
    (
        "a.kt",
        "fun login(a: Int) = 1\nclass K {\n  fun m() {}\n}",
        "a.kt::login a.kt::K.m",
        "login(1)\n// fun login() = 1",
    ),
]


@pytest.mark.parametrize(("path", "text", "expected", "twin"), SYMBOLS)
def test_symbols(path: str, text: str, expected: str, twin: str) -> None:
    check(path, text, expected, twin)


def test_what_moves_within_its_file_is_not_new() -> None:
    before = "def a():\n    pass\n\n\ndef b():\n    pass\n"
    assert names("x.py", "def b():\n    pass\n\n\ndef a():\n    pass\n", before) == []
    assert names("x.py", before + "\n\ndef c():\n    pass\n", before) == ["x.py::c"]
    # Indented under a class, `a` has another name; its line is the one that was there.
    nested = "class K:\n    def a():\n        pass\n"
    assert names("x.py", nested, "def a():\n    pass\n") == ["x.py::K"]


def test_the_way_back_is_a_symbol_all_the_same() -> None:
    text = "def upgrade():\n    pass\n\n\ndef downgrade():\n    op.add_column('t', sa.Column('a'))\n"
    assert names("m.py", text) == ["m.py::upgrade", "m.py::downgrade"]


def test_methods_of_a_renamed_class_are_not_new() -> None:
    before = "class A:\n    def f(self): pass\n    def g(self): pass\n"
    assert names("x.py", before.replace("A", "B"), before) == ["x.py::B"]


def test_methods_of_a_class_that_looks_like_its_neighbour_are_new() -> None:
    method = "    def get(self):\n        return 1\n\n"
    before = f"import a\n\n\nclass A:\n    x = 1\n\n{method}\nclass C:\n    x = 3\n\n{method}"
    new = f"class B:\n    x = 2\n\n{method}\nclass C"
    after = before.replace("import a", "import b").replace("class C", new)
    told = names("x.py", after, before)
    assert "x.py::B" in told and "x.py::B.get" in told
    assert not any(one.startswith(("x.py::A", "x.py::C")) for one in told)


# --- files, and what is none of these ---------------------------------------------------------


def test_a_new_file_enters_and_an_edited_one_does_not() -> None:
    assert entering.found("src/auth/sso.py", None, "x = 1\n") == [entering.Entering("src/auth/sso.py", "file", 1)]
    assert names("src/auth/sso.py", "x = 2\n", "x = 1\n") == []
    assert names("src/auth/sso.py", None, "x = 1\n") == []
    assert names("logo.bin", "\0\1", None) == ["logo.bin"]


@pytest.mark.parametrize("path", ["docs/data_modeling.md", "README", "notes.txt", "CHANGELOG.rst", "data/export.csv"])
def test_prose_and_data_name_nothing(path: str) -> None:
    text = (
        "We rejected payments.card_token:\nALTER TABLE payments ADD card_token text;\nimport redis\ndef login(): pass\n"
    )
    assert names(path, text) == []


def test_lines_and_types() -> None:
    before = "import os\n\n\ndef a():\n    return 1\n"
    after = "import os\nimport stripe\n\n\ndef a():\n    return os.environ['K']\n\n\nclass B:\n    pass\n"
    assert [tuple(one) for one in entering.found("src/x.py", before, after)] == [
        ("deps/stripe", "dependency", 2),
        ("env/K", "env_var", 6),
        ("src/x.py::B", "class", 9),
    ]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("x.py", "# import redis\n", "import redis\n"),
        ("x.py", '"""\nimport redis\n"""\n', "import redis\n"),
        ("x.sql", "/*\nALTER TABLE redis ADD a int;\n*/\n", "ALTER TABLE redis ADD a int;\n"),
    ],
)
def test_what_stood_in_a_comment_or_a_string_is_new(path: str, before: str, after: str) -> None:
    assert any("redis" in name for name in names(path, after, before))
    assert names(path, before, after) == []


def test_names_are_canonical_and_their_types_of_the_format() -> None:
    for path, text, *_ in [*ORM, *MANIFESTS, *IMPORTS, *ROUTES, *SYMBOLS]:
        for one in entering.found(path, None, text):
            assert entities.canonical(one.name) == one.name
            assert one.entity_type in vocabulary.ENTITY_TYPES
            assert 1 <= one.line <= text.count("\n") + 1


def test_of_a_huge_text_the_beginning_is_read_and_not_more() -> None:
    line = "x = 1\n"
    far = line * (entering.TEXT_MAX // len(line) + 1)
    assert names("a.py", "import redis\n" + far + "import stripe\n", far) == ["deps/redis"]
    many = "".join(f"def f{i}(): pass\n" for i in range(entering.ENTERING_MAX + 10))
    assert len(names("a.py", many)) == entering.ENTERING_MAX
