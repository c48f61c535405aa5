// The commands of a package: they bring app/node_modules to what its lock file says, which includes the pinned
// Node.js, and hand over to that. The packages are no dependencies of this one: npm would choose other versions of them,
// and leave out our overrides. Runs on any Node.js ≥ 20.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const app = fileURLToPath(new URL('../app', import.meta.url))
const stamp = join(app, 'node_modules', '.ergon-lock')

/** Runs a program of the package in the folder of the caller, and ends as it does. */
export function launch(program) {
  install()
  // The pipe on fd 3 tells the program when this process is gone, however it went.
  const child = spawn(
    join(app, 'node_modules', '.bin', 'node'),
    [join(app, program), ...process.argv.slice(2)],
    {
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      env: {
        ...process.env,
        ERGON_PARENT_FD: '3',
        NODE_COMPILE_CACHE: join(app, 'node_modules', '.cache', 'compile'),
      },
    },
  )
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.once('error', (error) => fail(error.message))
  child.once('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

function install() {
  const lock = readFileSync(join(app, 'package-lock.json'))
  const wanted = createHash('sha256').update(lock).digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  process.stderr.write('ergon: installing the pinned packages (npm ci) …\n')
  const { status, error } = spawnSync(
    'npm',
    ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline'],
    { cwd: app, stdio: ['ignore', 2, 2] },
  )
  if (error !== undefined) fail(`npm could not run: ${error.message}`)
  if (status !== 0) fail('npm ci failed: see its message above, then run the command again')
  writeFileSync(stamp, wanted)
}

function fail(message) {
  process.stderr.write(`ergon: ${message}\n`)
  process.exit(1)
}
