// Makes the files of one model ready: fetches its artifact and, where it must be, converts it. A child
// of its own, so that hashing and converting 90 MB never delay the agent. Progress and the result are
// JSON lines on stdout.
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createArtifacts } from '#artifacts/fetch.ts'
import { messageOf } from '#base/errors.ts'
import { createLogger } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { convertBert } from '#inference/convert/bert.ts'
import type { AssembleConfig, AssembleLine } from '#inference/models/files.ts'

const say = (line: AssembleLine) => process.stdout.write(`${JSON.stringify(line)}\n`)
const config = await readConfig<AssembleConfig>()
const log = createLogger('assemble', { level: config.logLevel })
const format = config.model.convert ?? 'q8_0'
const converted = join(config.modelsFolder, `${config.model.artifact}.${format}.gguf`)
const stopping = new AbortController()
onParentGone(() => stopping.abort())
// Nobody reads the lines any more: the agent stopped in the middle of the work.
process.stdout.on('error', () => stopping.abort())
process.once('SIGTERM', () => stopping.abort())

try {
  const artifacts = createArtifacts({
    folder: config.artifactsFolder,
    ...(config.offlineFolder === undefined ? {} : { offlineFolder: config.offlineFolder }),
    log,
    progress: (progress) => say({ progress }),
  })
  if (config.verify) {
    await artifacts.verify(stopping.signal, config.model.artifact)
    rmSync(converted, { force: true })
  }
  const files = await artifacts.ensure(config.model.artifact, stopping.signal)
  const source = files.path(config.model.file)
  say({ file: config.model.convert === undefined ? source : convert(dirname(source)) })
} catch (error) {
  say({ error: messageOf(error) })
  process.exitCode = 1
}

function convert(source: string): string {
  mkdirSync(config.modelsFolder, { recursive: true })
  if (!existsSync(converted)) convertBert(source, converted, format)
  return converted
}
