// The one entry of every npm script. Runs on any Node ≥ 20: brings node_modules to what the lock file
// says (which includes the pinned Node 24), then hands over to that Node. Plain JavaScript, because
// the machine's own Node may not strip types.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** Printed from the settings by `npm run generate`: help is for those who have installed nothing yet, too. */
const help = join(root, 'docs', 'reference', 'start-help.txt')
const bin = join(root, 'node_modules', '.bin')
const stamp = join(root, 'node_modules', '.ergon-lock')

const PARENT_LOOK_MS = 500

/** Each npm script as the commands it runs, in order; `node` is the pinned one. */
const scripts = {
  install: [],
  start: [['node', 'src/main.ts']],
  test: [
    ['node', 'scripts/check.ts'],
    ['node', 'scripts/test.ts'],
  ],
  unit: [['node', '--test', 'src/**/*.test.ts']],
  check: [['node', 'scripts/check.ts']],
  fix: [
    ['oxfmt', '.'],
    ['oxlint', '--fix'],
  ],
  acceptance: [['node', 'scripts/acceptance.ts']],
  bench: [['node', 'bench/run.ts']],
  pack: [['node', '--disable-warning=ExperimentalWarning', 'scripts/pack.ts']],
  generate: [['node', 'scripts/generate.ts']],
  's3-tests': [['node', 'scripts/s3-tests.ts']],
}

main(process.argv[2] ?? 'start', process.argv.slice(3))

function main(name, rest) {
  const commands = scripts[name]
  if (commands === undefined)
    fail(`Unknown script "${name}": one of ${Object.keys(scripts).join(', ')}`)
  if (name === 'start' && rest.some((word) => word === '--help' || word === '-h'))
    return void process.stdout.write(readFileSync(help))
  if (process.platform !== 'linux') fail(`Ergon runs on Linux; this is ${process.platform}`)
  if (!['x64', 'arm64'].includes(process.arch))
    fail(`Ergon runs on x64 and arm64; this is ${process.arch}`)
  install()
  if (commands.length > 0) run(commands, rest, 0)
}

function install() {
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  if (lstatSync(join(root, 'node_modules'), { throwIfNoEntry: false })?.isSymbolicLink())
    fail('node_modules is a link, and npm ci would empty what it leads to: copy or remove it')
  tell('installing the pinned packages (npm ci) …')
  const isTerminal = process.stderr.isTTY === true
  const done = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', ...(isTerminal ? [2, 2] : ['pipe', 'pipe'])],
    encoding: 'utf8',
  })
  for (const line of `${done.stdout ?? ''}\n${done.stderr ?? ''}`.split('\n'))
    if (line.trim() !== '') tell(`npm: ${line}`)
  if (done.error?.code === 'ENOENT')
    fail('npm is not on PATH: install Node.js 20 or newer with npm')
  if (done.status !== 0) fail('npm ci failed: see its message above, then run the command again')
  writeFileSync(stamp, wanted)
}

function run(commands, rest, index) {
  const [command, ...args] = commands[index]
  const last = index === commands.length - 1
  const path = join(bin, command)
  if (!existsSync(path)) fail(`${path} is missing: remove node_modules and run the command again`)
  const env = {
    ...process.env,
    PATH: bin + delimiter + process.env.PATH,
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compile'),
  }
  // npm that is killed takes nobody with it: then this process stays, to notice.
  const underNpm = process.env.npm_lifecycle_event !== undefined
  if (last && !underNpm && typeof process.execve === 'function') {
    process.chdir(root)
    process.execve(path, [path, ...args, ...rest], { ...env, ERGON_PARENT_FD: '' })
  }
  // The pipe on fd 3 tells the child when this process is gone, however it went.
  const child = spawn(path, [...args, ...(last ? rest : [])], {
    cwd: root,
    env: { ...env, ERGON_PARENT_FD: '3' },
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  })
  if (underNpm) endWithParent()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`Could not run ${command}: ${error.message}`))
  child.on('exit', (code, signal) => {
    if (code !== 0 || last) process.exit(code ?? (signal === null ? 1 : 1))
    run(commands, rest, index + 1)
  })
}

/** The end of this process is the end of fd 3, at which the child stops in order. */
function endWithParent() {
  const parent = process.ppid
  const look = () => process.ppid === parent || process.exit(1)
  setInterval(look, PARENT_LOOK_MS).unref()
}

function fail(message) {
  tell(message, 'error')
  process.exit(1)
}

/** A line of text on a terminal, else a line of the log, as src/base/log.ts writes them. */
function tell(message, level = 'info') {
  const line = { time: new Date().toISOString(), level, subsystem: 'bootstrap', message }
  process.stderr.write(process.stderr.isTTY ? `ergon: ${message}\n` : `${JSON.stringify(line)}\n`)
}
