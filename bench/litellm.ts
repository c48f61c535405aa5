// LiteLLM's proxy, from PyPI, installed at first use: 700 MB and two minutes. Without a database, as here,
// it checks its one key and counts nothing.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atRest } from './product.ts'
import { answering, freePort, ofProcess, type Target } from './targets.ts'

const VERSION = '1.106.2'
export const LITELLM = `LiteLLM ${VERSION}`
const FOLDER = join(import.meta.dirname, '../.cache/bench-python')
const PROGRAM = join(FOLDER, 'bin/litellm')
const KEY = 'sk-bench'

/** Serves `models` of an upstream's port. Throws where there is no Python, pip or registry. */
export async function startLitellm(upstream: number, models: readonly string[]): Promise<Target> {
  if (!existsSync(PROGRAM)) install()
  const port = await freePort()
  const place = mkdtempSync(join(tmpdir(), 'bench-litellm-'))
  const config = join(place, 'config.json')
  writeFileSync(config, JSON.stringify(configOf(upstream, models)))
  const at = ['--config', config, '--host', '127.0.0.1', '--port', `${port}`]
  const child = spawn('python3', [PROGRAM, ...at, '--num_workers', '1', '--telemetry', 'False'], {
    cwd: place,
    // The price map that comes with it, instead of one that it would fetch.
    env: {
      ...process.env,
      PYTHONPATH: FOLDER,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      LITELLM_LOG: 'ERROR',
    },
    stdio: 'ignore',
  })
  child.once('exit', () => rmSync(place, { recursive: true, force: true }))
  await answering(port, child)
  const target = ofProcess({
    name: LITELLM,
    port,
    headers: { Authorization: `Bearer ${KEY}` },
    child,
  })
  // It works on abandoned requests for a further second, into the turn of the next target.
  return { ...target, quiet: () => atRest(child.pid ?? 0) }
}

function install(): void {
  process.stderr.write('bench: installing LiteLLM …\n')
  const what = ['-m', 'pip', 'install', '--quiet', '--target', FOLDER, `litellm[proxy]==${VERSION}`]
  if (spawnSync('python3', what, { stdio: ['ignore', 2, 2] }).status !== 0)
    throw new Error('Could not install LiteLLM')
}

/** JSON is YAML too. */
const configOf = (upstream: number, models: readonly string[]) => ({
  model_list: models.map((name) => ({
    model_name: name,
    litellm_params: {
      model: `openai/${name}`,
      api_base: `http://127.0.0.1:${upstream}/v1`,
      api_key: 'sk-x',
    },
  })),
  general_settings: { master_key: KEY },
})
