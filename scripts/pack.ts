// npm run pack: the product as a package, ergon-cloud-ergon-<version>.tgz in the folder that is named (default .cache).
// Below app/ it has the sources without types, the console built, and the lock file of the packages that it needs; the two
// commands of bin/ install those (scripts/packed).
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { packedSources } from './package-source.ts'

const ROOT = join(import.meta.dirname, '..')
const STAGE = join(ROOT, '.cache', 'package')
const TEXTS = ['README.md', 'CHANGELOG.md', 'LICENSE']
const BIN = { ergon: 'bin/ergon.mjs', 'ergon-node': 'bin/ergon-node.mjs' }

type Manifest = Readonly<Record<string, unknown>>
type Lock = {
  readonly packages: Readonly<Record<string, Manifest & { readonly dev?: boolean }>>
}

const target = resolve(process.argv[2] ?? join(ROOT, '.cache'))
rmSync(STAGE, { recursive: true, force: true })
for (const { path, text } of packedSources(join(ROOT, 'src'))) put(join('app/src', path), text)
putConsole()
putManifests()
cpSync(join(ROOT, 'scripts', 'packed'), join(STAGE, 'bin'), { recursive: true })
for (const path of Object.values(BIN)) chmodSync(join(STAGE, path), 0o755)
for (const name of TEXTS) cpSync(join(ROOT, name), join(STAGE, name))
mkdirSync(target, { recursive: true })
const said = execFileSync('npm', ['pack', '--json', '--pack-destination', target], {
  cwd: STAGE,
  encoding: 'utf8',
})
const [{ filename }] = JSON.parse(said) as [{ readonly filename: string }]
const packed = join(target, filename)
process.stdout.write(`${packed} ${(statSync(packed).size / 1e6).toFixed(1)} MB\n`)

/** Built from nothing, so that no chunk of an earlier build is in the package. */
function putConsole(): void {
  rmSync(join(ROOT, 'portal', 'dist'), { recursive: true, force: true })
  execFileSync(process.execPath, [join(ROOT, 'portal', 'build.ts')], { stdio: 'ignore' })
  cpSync(join(ROOT, 'portal', 'dist'), join(STAGE, 'app', 'portal', 'dist'), { recursive: true })
}

/** The package itself, which depends on nothing, and the one below app/ with the lock of what runs it. */
function putManifests(): void {
  const own = readJson('package.json') as Manifest
  const { name, version, description, license, type, exports, engines } = own
  const exported = JSON.parse(JSON.stringify(exports).replaceAll('./src/', './app/src/')) as unknown
  putJson('package.json', {
    name,
    version,
    description,
    license,
    type,
    bin: BIN,
    exports: exported,
    engines,
  })
  const { devDependencies: _, scripts: __, bin: ___, ...app } = own
  putJson('app/package.json', { ...app, imports: { '#*': './src/*' } })
  const lock = readJson('package-lock.json') as Lock
  const { devDependencies: ____, bin: _____, ...root } = lock.packages[''] ?? {}
  const needed = Object.entries(lock.packages).filter(
    ([path, { dev }]) => path !== '' && dev !== true,
  )
  putJson('app/package-lock.json', {
    ...lock,
    packages: { '': root, ...Object.fromEntries(needed) },
  })
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, name), 'utf8'))
}

function putJson(name: string, value: object): void {
  put(name, `${JSON.stringify(value, undefined, 2)}\n`)
}

function put(name: string, text: string | Buffer): void {
  const path = join(STAGE, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
