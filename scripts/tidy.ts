// The tree's own rules as data, checked in every test run: which folder may import which, which
// package lives where, and what may not be in a committed file. See ARCHITECTURE.md, "Folders".
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { proseRatchet, storedCounts } from './prose.ts'
import { contractFaults, type Fault } from './tidy-contract.ts'
import { errorClassFaults } from './tidy-errors.ts'
import { figureFaults } from './tidy-figure.ts'
import { nameFaults, toldFaults } from './tidy-names.ts'
import { operationFileFaults } from './tidy-operations.ts'
import { pageFaults } from './tidy-pages.ts'
import { sqlFaults } from './tidy-sql.ts'
import { testNameFaults } from './tidy-tests.ts'

const PRODUCTS = [
  'inference',
  's3',
  'databases',
  'functions',
  'workloads',
  'accounts',
  'payments',
  'webhooks',
  'compliance',
  'deployments',
  'live',
  'portal',
  'status',
]
const LOWER = [
  'base',
  'contract',
  'config',
  'tlog',
  'hcl',
  'stack',
  'wire',
  'state',
  'tasks',
  'artifacts',
  'cells',
  'blobs',
  'metering',
  'postgres',
  'identity',
  'ledger',
  'charging',
  'resources',
  'node',
  'signers',
  'receipts',
  'objects',
  'http',
  'http-client',
  'ingress',
  'egress',
  'images',
]

/** folder under src/ → the folders it may import. A folder may always import itself. */
export const DIRECTIONS: Record<string, readonly string[]> = {
  base: [],
  contract: ['base'],
  config: ['base', 'contract'],
  tlog: ['base', 'contract'],
  hcl: ['base'],
  stack: ['base', 'contract', 'hcl'],
  wire: ['base'],
  state: ['base', 'contract', 'config', 'wire'],
  tasks: ['base', 'contract', 'state'],
  artifacts: ['base', 'contract', 'config'],
  cells: ['base'],
  egress: ['base'],
  'http-client': ['base'],
  'egress-proxy': ['base', 'config', 'cells', 'egress', 'metering', 'node'],
  images: ['base', 'contract', 'egress'],
  blobs: ['base', 'contract', 'config'],
  metering: ['base', 'contract'],
  postgres: ['base', 'contract', 'config', 'artifacts', 'cells'],
  identity: ['base', 'contract', 'state'],
  ledger: ['base', 'contract', 'state', 'tasks'],
  charging: ['base', 'contract', 'metering', 'ledger'],
  resources: ['base', 'contract', 'stack', 'state', 'identity', 'ledger'],
  node: [
    'base',
    'contract',
    'config',
    'state',
    'tasks',
    'artifacts',
    'cells',
    'metering',
    'postgres',
    'identity',
    'ledger',
    'charging',
    'resources',
  ],
  signers: ['base', 'contract', 'tlog'],
  receipts: ['base', 'contract', 'config', 'tlog', 'state', 'cells', 'ledger', 'node', 'signers'],
  objects: [
    'base',
    'contract',
    'state',
    'blobs',
    'metering',
    'postgres',
    'identity',
    'ledger',
    'charging',
    'config',
    'cells',
    'node',
    'tasks',
  ],
  http: ['base', 'contract', 'metering', 'state', 'identity', 'charging', 'resources'],
  ingress: [
    'base',
    'contract',
    'config',
    'state',
    'cells',
    'identity',
    'charging',
    'node',
    'resources',
    'http',
    'http-client',
  ],
  ...Object.fromEntries(PRODUCTS.map((product) => [product, LOWER])),
  processes: [...LOWER, 'egress-proxy', ...PRODUCTS],
  cli: ['base', 'contract', 'tlog', 'hcl', 'stack'],
  'main.ts': ['base', 'config', 'node', 'processes'],
}

/** package → the folders under src/ that may import it. */
export const CONFINED: Record<string, readonly string[]> = {
  zod: ['contract', 'config'],
  pg: ['state', 'databases'],
  'graphile-worker': ['tasks'],
  '@noble/curves': ['signers', 'payments'],
  '@noble/hashes': ['payments'],
  'libsodium-wrappers-sumo': ['signers'],
  'node-llama-cpp': ['inference'],
  'find-my-way': ['http'],
  undici: ['http', 'ingress', 'signers', 'metering', 'payments', 'cli'],
  commander: ['cli'],
  esbuild: ['cli', 'node'],
  yauzl: ['artifacts', 'cli'],
  'tar-stream': ['images'],
  yazl: ['compliance'],
  'lru-cache': ['identity', 'inference', 'objects', 'databases'],
  '@simplewebauthn/server': ['portal'],
  '@peculiar/x509': ['databases'],
  'reflect-metadata': ['databases'],
  '@datadog/sketches-js': ['inference'],
  'eventsource-parser': ['inference'],
  mime: ['cli'],
  stripe: ['payments'],
  'prom-client': ['http', 'node', 'status'],
  'fast-xml-parser': ['s3'],
  '@fastify/busboy': ['s3'],
  'hash-wasm': ['s3'],
  '@node-rs/crc32': ['blobs'],
  '@aws-sdk/client-s3': ['blobs', 'cli'],
  '@aws-sdk/lib-storage': ['blobs', 'cli'],
  '@aws-sdk/s3-request-presigner': ['blobs', 'cli'],
  '@aws-sdk/s3-presigned-post': ['blobs', 'cli'],
}

/**
 * Every fault of the given files; text is read through `read`, so that tests can plant one. `exists`
 * says whether a path that a page links to is there.
 */
export function tidy(
  paths: readonly string[],
  read: (path: string) => string,
  exists: (path: string) => boolean = existsSync,
): Fault[] {
  const isSourceFile = (path: string) =>
    path.startsWith('src/') && path.endsWith('.ts') && !path.endsWith('.test.ts')
  const sources = paths.filter(isSourceFile).map((path) => ({ path, text: read(path) }))
  const faults: Fault[] = [...schemaFaults(paths), ...nameFaults(sources)]
  for (const path of paths) {
    if (path === 'package-lock.json') continue
    const text = read(path)
    for (const rule of TEXT_RULES) {
      const found = rule.pattern.exec(text)
      if (found !== null && rule.where(path))
        faults.push({ path, line: lineOf(text, found.index), rule: rule.name })
    }
    if (path.startsWith('src/') && path.endsWith('.ts')) {
      faults.push(...importFaults(path, text))
      if (!isTest(path)) faults.push(...headerFaults(path, text), ...messageFaults(path, text))
    }
    if (/^portal\/.*\.tsx?$/.test(path) && !isTest(path))
      faults.push(...headerFaults(path, text), ...toldFaults(path, text))
    if (path.endsWith('.md')) faults.push(...pageFaults(path, text, { exists, read }))
  }
  return faults
}

/** Schema files of an area run by number: two of one number would run in the order of their names. */
function schemaFaults(paths: readonly string[]): Fault[] {
  const seen = new Map<string, string>()
  return paths.flatMap((path) => {
    const number = /^src\/\w+\/schema\/\d{4}(?=_)/.exec(path)?.[0]
    const earlier = number && seen.get(number)
    if (number !== undefined) seen.set(number, path)
    // migrate() leaves out what has another name.
    if (/^src\/\w+\/schema\//.test(path) && !/\/\d{4}_[a-z0-9-]+\.sql$/.test(path))
      return [{ path, line: 1, rule: 'is not applied: its name must be NNNN_what-it-does.sql' }]
    return earlier ? [{ path, line: 1, rule: `has the number of ${earlier}` }] : []
  })
}

const lineOf = (text: string, index: number) => text.slice(0, index).split('\n').length
const isOwn = (path: string) => /^scripts\/tidy(\.test)?\.ts$/.test(path)
const isSource = (path: string) => /\.tsx?$/.test(path) && !isOwn(path)
const anywhere = (path: string) => !isOwn(path)

const TEXT_RULES: { name: string; pattern: RegExp; where: (path: string) => boolean }[] = [
  {
    // PostgreSQL orders by the column of the result first, which is the text: 10 comes before 9.
    name: 'orders by the text of a number: write order by table.column',
    pattern:
      /(?:\bselect |\w,\s+)(\w+)::text(?!\s+as\b)[^`;]*?\border by (?:[\w.]+(?: desc)?, )*\1\b(?!\.)/,
    where: (path) => /\.(ts|sql)$/.test(path) && !isTest(path),
  },
  {
    name: 'names a download host of a package registry',
    pattern: /https?:\/\/[a-z.]*(npmjs|pythonhosted|pypi|crates\.io|golang|maven)[a-z.]*/i,
    where: anywhere,
  },
  {
    name: 'bears a path of a particular machine',
    pattern: /(^|[\s'"`(])\/(work|root|home\/[a-z]+)\//m,
    where: anywhere,
  },
  {
    name: 'TODO without an issue: write TODO(#12): …',
    pattern: /\bTODO\b(?!\(#\d+\):)/,
    where: isSource,
  },
  {
    name: 'a bare Error: throw ErgonError, or a built-in for a programming mistake',
    pattern: /new Error\(/,
    where: (path) => path.startsWith('src/') && !path.endsWith('.test.ts'),
  },
  {
    name: 'a status beside a code: contract/errors.ts has the status',
    pattern: /\bcode: '[a-z_]+',\s*status: \d/,
    where: (path) => path.startsWith('src/') && !/\.(test|fixture)\.ts$/.test(path),
  },
  {
    name: 'imports upwards with ../: use #folder/',
    pattern: /from '\.\.\//,
    where: (path) => /^(portal\/)?src\//.test(path),
  },
  {
    name: 'a page imports another page: what two pages share is in portal/src/parts',
    pattern: /from '#console\/pages\/\w+\//,
    where: (path) => path.startsWith('portal/src/pages/'),
  },
  {
    name: 'figures import nothing but each other: they are text made of integers',
    pattern: /from '#console\//,
    where: (path) => path.startsWith('portal/src/figures/'),
  },
  {
    name: 'a colour beside the tokens: portal/src/style/tokens.css has them all',
    pattern: /#[0-9a-f]{3,8}\b|\brgba?\(/i,
    where: (path) => /^portal\/src\/.*\.css$/.test(path) && !path.endsWith('/tokens.css'),
  },
  {
    name: 'imports the product: acceptance tests see only what a client sees',
    pattern: /from '(#|(\.\.\/)+src\/)/,
    where: (path) => path.startsWith('acceptance/'),
  },
  {
    name: 'knows HTTP or XML: the object store is below every protocol',
    pattern: /from 'node:http'|\bxml\b|\bstatusCode\b/i,
    where: (path) => path.startsWith('src/objects/'),
  },
  {
    name: 'a clock that starts at import: files that share a process are all imported first',
    pattern: /^(const|let) .*= AbortSignal\.timeout\(/m,
    where: (path) => /^(src|scripts)\/.*\.test\.ts$/.test(path),
  },
  {
    name: 'a barrel: import from the file that defines the thing',
    pattern: /^export (\*|\{[^}]*\}) from /m,
    where: isSource,
  },
]

function importFaults(path: string, text: string): Fault[] {
  const folder = path.split('/')[1] ?? ''
  const allowed = DIRECTIONS[folder]
  if (allowed === undefined)
    return [{ path, line: 1, rule: `"${folder}" is not in the direction table` }]
  const faults: Fault[] = []
  for (const found of text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)) {
    const target = found[1] ?? ''
    const line = lineOf(text, found.index)
    if (target.startsWith('#')) {
      const to = target.slice(1).split('/')[0] ?? ''
      if (to !== folder && !allowed.includes(to) && !isTest(path))
        faults.push({ path, line, rule: `${folder}/ may not import ${to}/` })
    } else if (!target.startsWith('.') && !target.startsWith('node:')) {
      const name = target.startsWith('@')
        ? target.split('/').slice(0, 2).join('/')
        : (target.split('/')[0] ?? '')
      const homes = CONFINED[name]
      if (homes !== undefined && !homes.includes(folder) && !isTest(path))
        faults.push({ path, line, rule: `the package ${name} is confined to ${homes.join(', ')}` })
    }
  }
  return faults
}

const isTest = (path: string) => /\.(test|fixture)\.ts$/.test(path)

/** STYLE.md, "Order in a file": purpose and invariant come first. */
const headerFaults = (path: string, text: string): Fault[] =>
  /^(\/\/ |\/\*\* )/.test(text)
    ? []
    : [{ path, line: 1, rule: 'no header: say in a comment what the file is for' }]

const MESSAGES =
  /(?:\b(?:fault|baseFault|postgresFault|artifactFault|refusal)\(\s*'\w+'|\bErgonError\(\s*\{[^}]*\}),\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g

/** Names that are written small, also where a sentence begins with them. */
const PROGRAMS = /^(initdb|npm|pip)\b/

/** STYLE.md, "Errors": what could not be done, then a colon and the value: capital, no full stop. */
function messageFaults(path: string, text: string): Fault[] {
  const faults: Fault[] = []
  for (const found of text.matchAll(MESSAGES)) {
    const message = found[2] ?? ''
    const line = lineOf(text, found.index)
    if (/[.!]$/.test(message)) faults.push({ path, line, rule: 'a message ends with a full stop' })
    if (/^[a-z]/.test(message) && !PROGRAMS.test(message))
      faults.push({ path, line, rule: 'a message begins with a small letter' })
  }
  return faults
}

function main(): void {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    encoding: 'utf8',
  })
  const paths = listed
    .split('\n')
    .filter((path) => /\.(tsx?|mjs|css|md|json|sql|py|sh|html)$/.test(path) && existsSync(path))
  const read = (path: string) => readFileSync(path, 'utf8')
  const faults = [
    ...tidy(paths, read),
    ...contractFaults(paths, read),
    ...sqlFaults(paths, read, DIRECTIONS),
    ...figureFaults(paths, read),
    ...operationFileFaults(paths),
    ...errorClassFaults(paths, read),
    ...testNameFaults(paths, read),
    ...proseRatchet(paths, read, storedCounts()),
  ]
  for (const fault of faults) process.stderr.write(`${fault.path}:${fault.line}: ${fault.rule}\n`)
  process.stdout.write(`tidy: ${paths.length} files, ${faults.length} faults\n`)
  if (faults.length > 0) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main()
