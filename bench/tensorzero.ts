// TensorZero's gateway, from PyPI, installed at first use: 126 MB. It runs inside of a Python process that only
// starts it. Its observability is off, so it keeps nothing of a request.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ofProcess, type Target } from './targets.ts'

const VERSION = '2026.6.0'
export const TENSORZERO = `TensorZero ${VERSION}`
const FOLDER = join(import.meta.dirname, '../.cache/bench-tensorzero')
const SCRIPT = join(import.meta.dirname, 'servers/run_tensorzero.py')

/** Serves `models` of an upstream's port. Throws where there is no Python, pip or registry. */
export async function startTensorzero(
  upstream: number,
  models: readonly string[],
): Promise<Target> {
  if (!existsSync(join(FOLDER, 'tensorzero'))) install()
  const place = mkdtempSync(join(tmpdir(), 'bench-tensorzero-'))
  const config = join(place, 'config.toml')
  writeFileSync(config, configOf(upstream, models))
  const child = spawn('python3', [SCRIPT, config], {
    env: { ...process.env, PYTHONPATH: FOLDER, RUST_LOG: 'error' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.once('exit', () => rmSync(place, { recursive: true, force: true }))
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  const address = new URL(String(line).trim())
  return {
    ...ofProcess({ name: TENSORZERO, port: Number(address.port), headers: {}, child }),
    path: `${address.pathname}/chat/completions`,
    modelOf: (name) => `tensorzero::model_name::${name}`,
  }
}

function install(): void {
  process.stderr.write('bench: installing TensorZero …\n')
  const what = ['-m', 'pip', 'install', '--quiet', '--target', FOLDER, `tensorzero==${VERSION}`]
  if (spawnSync('python3', what, { stdio: ['ignore', 2, 2] }).status !== 0)
    throw new Error('Could not install TensorZero')
}

const configOf = (upstream: number, models: readonly string[]): string =>
  [
    '[gateway]\nobservability.enabled = false',
    ...models.map(
      (name) => `[models.${name}]
routing = ["mock"]
[models.${name}.providers.mock]
type = "openai"
model_name = "${name}"
api_base = "http://127.0.0.1:${upstream}/v1/"
api_key_location = "none"`,
    ),
  ].join('\n')
