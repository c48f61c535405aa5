// Each rule of the tree holds, and turns red on a planted violation.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { SETTINGS } from '#config/settings.ts'
import { EVENTS } from '#contract/events.ts'
import { OPERATIONS } from '#contract/operations.ts'
import { ROUTES } from '#contract/routes.ts'
import { contractFaults } from './tidy-contract.ts'
import { errorClassFaults } from './tidy-errors.ts'
import { figureFaults } from './tidy-figure.ts'
import { operationFileFaults } from './tidy-operations.ts'
import { sqlFaults } from './tidy-sql.ts'
import { CONFINED, DIRECTIONS, tidy } from './tidy.ts'

const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
const sources = listed.split('\n').filter((path) => /^src\/.*\.(ts|sql)$/.test(path))
const read = (path: string) => readFileSync(path, 'utf8')

/** The rules that one file breaks. */
const rules = (path: string, text: string, exists = () => false) =>
  tidy([path], () => text, exists).map(({ rule }) => rule)

const HEADER = '// A file.\n'

/** A violation of each rule of text: where it stands, its text, and words of the rule. */
const PLANTED: readonly [path: string, text: string, rule: RegExp][] = [
  ['README.md', `https:/${'/registry.npmjs.org'}/x`, /download host of a package registry/],
  ['docs/a.md', `run \`/${'root/'}x\``, /path of a particular machine/],
  ['src/base/a.sql', 'select at, id::text from a where id > 1 order by id;', /text of a number/],
  ['src/base/a.ts', `${HEADER}// TO${'DO later'}`, /TODO without an issue/],
  ['src/base/a.ts', `${HEADER}throw new Error${'('}'x')`, /a bare Error/],
  ['src/base/a.ts', `${HEADER}import { a } from '.${'./'}b.ts'`, /imports upwards/],
  ['acceptance/a.ts', `${HEADER}import { x } from '#http/server.ts'`, /imports the product/],
  ['acceptance/a.ts', `${HEADER}import { x } from '../${'src/'}main.ts'`, /imports the product/],
  ['src/base/a.test.ts', 'const signal = AbortSignal.timeout(9)', /clock that starts at import/],
  ['src/base/a.ts', `${HEADER}export ${'* from'} './b.ts'`, /a barrel/],
  ['src/base/a.ts', `${HEADER}import { x } from '#http/server.ts'`, /base\/ may not import http\//],
  ['src/cells/a.ts', `${HEADER}import { z } from 'zod'`, /package zod is confined to contract/],
  ['src/nowhere/a.ts', HEADER, /"nowhere" is not in the direction table/],
  ['src/base/a.ts', `${HEADER}let told = ''`, /names a thing "told"/],
  ['src/base/a.ts', `${HEADER}export const a = (told: string) => told`, /names a thing "told"/],
  ['src/base/a.ts', 'export const a = 1', /no header/],
  ['src/http/a.ts', `${HEADER}throw fault('internal', 'It broke.')`, /ends with a full stop/],
  ['src/http/a.ts', `${HEADER}throw fault('internal', 'it broke')`, /begins with a small letter/],
  ['src/base/a.ts', `${HEADER}baseFault(\n 'locked',\n \`It is \${x}.\`)`, /ends with a full stop/],
  [
    'src/http/a.ts',
    `${HEADER}new ErgonError({ code: 'locked', status: 500 }, 'It is')`,
    /a status beside a code/,
  ],
  ['portal/src/parts/a.tsx', 'export const a = 1', /no header/],
  ['portal/src/live/a.ts', `${HEADER}const told = 1`, /names a thing "told"/],
  [
    'portal/src/pages/a/b.tsx',
    `${HEADER}import { c } from '${'#console'}/pages/c/d.tsx'`,
    /another page/,
  ],
  [
    'portal/src/figures/a.ts',
    `${HEADER}import { c } from '${'#console'}/live/d.ts'`,
    /figures import/,
  ],
  ['portal/src/parts/a.ts', `${HEADER}import { c } from '${'..'}/d.ts'`, /imports upwards/],
  ['src/base/a.ts', `${HEADER}import { c } from '${'#console'}/d.ts'`, /may not import console/],
  ['portal/src/parts/a.css', `.a { color: ${'#'}fff }`, /a colour beside the tokens/],
  [
    'acceptance/COVERAGE.md',
    '| put | test/storage/gone.ts |',
    /names no file: test\/storage\/gone.ts/,
  ],
  ['docs/finding.md', '`src/databases/gone.ts`', /names no file: src\/databases\/gone.ts/],
  ['docs/guide/a.md', 'see [this](gone.md)', /links to nothing: gone.md/],
  ['docs/guide/a.md', '# A b\n\n[this](#a-b), [that](#gone)', /links to no heading: #gone/],
  ['docs/decisions/a.md', 'word '.repeat(121), /a paragraph of 12\d words/],
]

for (const [path, text, rule] of PLANTED)
  test(`tidy() finds in ${path}: ${rule.source}`, () => {
    const found = rules(path, text)
    assert.equal(found.length, 1, found.join('; '))
    assert.match(found[0] ?? '', rule)
  })

test('tidy() lets pass what the rules allow', () => {
  assert.deepEqual(rules('src/http/a.ts', `${HEADER}import { x } from '#base/ids.ts'`), [])
  assert.deepEqual(rules('src/http/a.ts', `${HEADER}fault('internal', 'Could not: \${x}')`), [])
  assert.deepEqual(rules('src/base/a.test.ts', "import a from '#http/server.ts'"), [])
  assert.deepEqual(
    rules('docs/a.md', '# C\n\n[a](b.md#c) [d](https://e.example)', () => true),
    [],
  )
})

test('tidy() finds two exports of one name, a type of a global, and a type of an export', () => {
  const files = new Map([
    ['src/base/a.ts', `${HEADER}export type Meter = 1`],
    ['src/cli/b.ts', `${HEADER}export interface Meter {}`],
    ['src/cli/c.ts', `${HEADER}export type Credential = 1`],
    ['src/cli/d.ts', `${HEADER}export const readAll = 1`],
    ['src/cli/e.ts', `${HEADER}export async function readAll() {}`],
    ['src/cli/h.ts', `${HEADER}type Meter = 1`],
    ['src/cli/h.fixture.ts', `${HEADER}type Meter = 1`],
    ['src/cli/commands/f.ts', `${HEADER}export async function run() {}`],
    ['src/cli/commands/g.ts', `${HEADER}export async function run() {}`],
  ])
  const found = tidy([...files.keys()], (path) => files.get(path) ?? '')
  assert.deepEqual(
    found.map(({ path, rule }) => `${path} ${rule}`),
    [
      "src/cli/c.ts exports a type of a global's name: Credential",
      'src/cli/b.ts exports the type Meter, and so does src/base/a.ts',
      'src/cli/e.ts exports the value readAll, and so does src/cli/d.ts',
      'src/cli/h.ts has a type Meter of its own, and src/cli/b.ts exports another',
    ],
  )
})

test('tidy() finds a type that is named by a participle', () => {
  const files = new Map([
    ['src/cli/a.ts', `${HEADER}type Asked = 1`],
    ['src/cli/b.ts', `${HEADER}export type Place = 1`],
    ['src/cli/c.ts', `${HEADER}export type ObjectPlace = 1`],
    ['src/cli/d.fixture.ts', `${HEADER}type Asked = 1`],
  ])
  const found = tidy([...files.keys()], (path) => files.get(path) ?? '')
  const named = ({ path, rule }: { readonly path: string; readonly rule: string }) =>
    `${path} ${rule.slice(0, 18)}`
  assert.deepEqual(found.map(named), [
    'src/cli/b.ts has a type "Place"',
    'src/cli/a.ts has a type "Asked"',
  ])
})

test('tidy() finds two schema files of one number', () => {
  const paths = ['a', 'b'].map((name) => `src/ledger/schema/0001_${name}.sql`)
  const found = tidy(paths, () => '').map(({ path, rule }) => `${path} ${rule}`)
  assert.deepEqual(found, [
    'src/ledger/schema/0001_b.sql has the number of src/ledger/schema/0001_a.sql',
  ])
})

test('tidy() finds a schema file that no start would apply', () => {
  const paths = ['0001_fine-name.sql', '0002_two_words.sql', '3_short.sql']
  const found = tidy(
    paths.map((name) => `src/ledger/schema/${name}`),
    () => '',
  )
  assert.deepEqual(
    found.map(({ path }) => path),
    ['src/ledger/schema/0002_two_words.sql', 'src/ledger/schema/3_short.sql'],
  )
})

test('the direction table has no circle', () => {
  const visit = (folder: string, above: readonly string[]): void => {
    assert.ok(!above.includes(folder), [...above, folder].join(' → '))
    for (const below of DIRECTIONS[folder] ?? []) visit(below, [...above, folder])
  }
  for (const folder of ['base', 'http', 'inference', 'cli', 'main.ts']) visit(folder, [])
})

const sqlRules = (path: string, planted: string) => {
  const from = (each: string) => (each === path ? planted : read(each))
  return sqlFaults([...new Set([...sources, path])], from, DIRECTIONS).map(({ rule }) => rule)
}

test('sqlFaults() finds none in this tree', () => {
  assert.deepEqual(
    sqlFaults(sources, read, DIRECTIONS).map(({ path, rule }) => `${path}: ${rule}`),
    [],
  )
})

test('sqlFaults() finds SQL that names a table or a function of an area above, and of another product', () => {
  assert.deepEqual(sqlRules('src/ledger/a.sql', 'select 1 from only deployments;'), [
    'SQL of ledger/ may not name deployments of deployments/',
  ])
  assert.deepEqual(sqlRules('src/databases/a.ts', 'ask(`select has_volumes($1)`)'), [
    'SQL of databases/ may not name has_volumes of workloads/',
  ])
  for (const sql of [
    `ask("select x from workloads where a = 'b'")`,
    'ask(`delete from databases using workloads`)',
    'ask(`truncate workloads`)',
    'ask(`select 1 FROM Workloads`)',
    `ask('select 1 from "workloads"')`,
  ])
    assert.equal(sqlRules('src/databases/a.ts', sql).length, 1, sql)
  assert.deepEqual(sqlRules('src/identity/a.sql', '-- from deployments\nselect emit_event()'), [])
})

test('sqlFaults() finds an exception that nothing needs', () => {
  assert.deepEqual(sqlRules('src/status/metrics/webhook-figures.ts', ''), [
    'nothing needs the exception status webhook_backlog',
  ])
})

test('every folder that a package is confined to is in the direction table', () => {
  for (const [name, homes] of Object.entries(CONFINED))
    for (const home of homes) assert.ok(DIRECTIONS[home], `${name}: ${home}`)
})

test('the direction table has no folder that is not there, and no package that is not installed', () => {
  for (const folder of Object.keys(DIRECTIONS)) assert.ok(existsSync(`src/${folder}`), folder)
  const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >
  for (const name of Object.keys(CONFINED))
    assert.ok(Object.hasOwn({ ...dependencies, ...devDependencies }, name), name)
})

test('the table of folders in ARCHITECTURE.md has each folder below those that import it', () => {
  const page = read('ARCHITECTURE.md')
  const table = page.slice(page.indexOf('| Folder | Content |')).split('\n\n', 1)[0] ?? ''
  const names = table
    .split('\n')
    .slice(2)
    .flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([\w-]+)`/g)].map(([, name]) => name),
    )
  assert.deepEqual(
    names.toSorted(),
    Object.keys(DIRECTIONS)
      .filter((folder) => folder !== 'main.ts')
      .toSorted(),
  )
  for (const [at, name = ''] of names.entries())
    for (const below of DIRECTIONS[name] ?? [])
      assert.ok(names.indexOf(below) < at, `${name} imports ${below}`)
})

test('contractFaults() finds none in this tree', () => {
  assert.deepEqual(contractFaults(sources, read), [])
})

const tables = { operations: OPERATIONS, routes: ROUTES, settings: SETTINGS, events: EVENTS }
const contractRules = (planted: Partial<Parameters<typeof contractFaults>[2]>, from = read) =>
  contractFaults(sources, from, { ...tables, ...planted }).map(({ rule }) => rule)

test('contractFaults() finds an operation that no route binds', () => {
  const operations = { ...OPERATIONS, 'mind.read': {} } as const
  assert.deepEqual(contractRules({ operations }), ['no route binds the operation mind.read'])
})

test('contractFaults() finds two routes on one path', () => {
  const routes = [...ROUTES, { method: 'GET', path: '/healthz', operation: 'service.health' }]
  assert.deepEqual(contractRules({ routes }), ['two routes bind GET /healthz'])
})

test('contractFaults() finds a code that nothing answers with', () => {
  const without = (path: string) => (path === 'src/http/host-rule.ts' ? HEADER : read(path))
  assert.deepEqual(contractRules({}, without), ['nothing answers with the code host_unknown'])
})

test('contractFaults() finds a setting that nothing reads, and one that is read and says otherwise', () => {
  const unread = { ...SETTINGS, moon: { name: 'ERGON_MOON', flag: 'moon', help: 'Its phase' } }
  assert.deepEqual(contractRules({ settings: unread }), ['nothing reads ERGON_MOON'])
  const wrong = { ...SETTINGS, host: { ...SETTINGS.host, help: 'Address (not read yet)' } }
  assert.deepEqual(contractRules({ settings: wrong }), [
    'ERGON_HOST is read: its help says it is not',
  ])
})

const EVENTS_FILE = /^src\/contract\/(\w+)\/events\.ts$/

test('each event is in the file of the area whose SQL emits it', () => {
  const files = listed.split('\n').filter((one) => EVENTS_FILE.test(one))
  assert.ok(files.length > 1)
  for (const path of files) {
    const [, area] = EVENTS_FILE.exec(path) ?? []
    const emitted = sources
      .filter((one) => one.startsWith(`src/${area}/`) && one.endsWith('.sql'))
      .flatMap((one) => [...read(one).matchAll(/emit_event\([^']*?'([\w.]+)'/g)])
      .map(([, type]) => type)
    const inFile = [...read(path).matchAll(/^  '([\w.]+)': eventOf/gm)].map(([, type]) => type)
    for (const type of inFile) assert.ok(emitted.includes(type), `${path}: ${type}`)
  }
})

test('contractFaults() finds an event that nothing emits, and one that the contract does not have', () => {
  const events = { ...EVENTS, 'moon.full': {} }
  assert.deepEqual(contractRules({ events }), ['nothing emits the event moon.full'])
  const { 'token.exposed': _, ...others } = EVENTS
  assert.deepEqual(contractRules({ events: others }), [
    'contract/events.ts has no event token.exposed',
  ])
})

test('figureFaults() finds none in this tree, a step that the page lacks, and a pipeline without a figure', () => {
  const [code, page] = ['src/http/pipeline.ts', 'ARCHITECTURE.md']
  const of = (path: string, text: string) =>
    figureFaults([code, page], (each) => (each === path ? text : read(each))).map(
      ({ rule }) => rule,
    )
  assert.deepEqual(of('', ''), [])
  assert.deepEqual(of(page, read(page).replace(/^claim .*\n/m, '')), [
    `has another figure of a request's steps than ${code}`,
  ])
  assert.deepEqual(of(code, HEADER), ["has no figure of a request's steps"])
})

test('operationFileFaults() finds none in this tree, and a file of no operation', () => {
  assert.deepEqual(operationFileFaults(sources), [])
  const folder = 'src/accounts/operations'
  const planted = ['find-token.ts', 'token-create.ts', 'tokens.ts', 'audit-actors.test.ts']
  assert.deepEqual(
    operationFileFaults(planted.map((file) => `${folder}/${file}`)).map(({ path }) => path),
    [`${folder}/find-token.ts`, `${folder}/tokens.ts`],
  )
})

test('errorClassFaults() finds none in this tree, and a class of errors that nothing asks for', () => {
  assert.deepEqual(errorClassFaults(sources, read), [])
  const planted = 'src/cli/planted.ts'
  const text = `${HEADER}export class Unasked extends Error {}\nclass Deeper extends ErgonError {}\n`
  const from = (path: string) => (path === planted ? text : read(path))
  assert.deepEqual(
    errorClassFaults([...sources, planted], from).map(({ line, rule }) => [
      line,
      rule.slice(0, 39),
    ]),
    [
      [2, 'nothing asks for the class Unasked: thr'],
      [3, 'nothing asks for the class Deeper: thro'],
    ],
  )
})
