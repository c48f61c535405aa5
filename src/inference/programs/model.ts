// The model cell: one process, one model, OpenAI-shaped HTTP on a unix socket.
import { ErgonError } from '#base/errors.ts'
import { endOnFault } from '#base/crash.ts'
import { createLogger, type LogLevel } from '#base/log.ts'
import { onParentGone, readConfig } from '#base/parent.ts'
import { serveCell } from '#inference/engine/cell-server.ts'
import { openChatEngine } from '#inference/engine/chat-engine.ts'
import { openEmbeddingEngine } from '#inference/engine/embedding-engine.ts'
import { EXIT_MISFIT, type ModelConfig } from '#inference/engine/model-config.ts'

export type ModelCellConfig = {
  readonly model: ModelConfig
  /** Path of the unix socket to listen on. */
  readonly socket: string
  readonly logLevel: LogLevel
}

const { model, socket, logLevel } = await readConfig<ModelCellConfig>()
const log = createLogger(`model ${model.id}`, { level: logLevel })
endOnFault(log)
// The engine's threads do not notice that the parent is gone: leave at once, there is nothing to save.
onParentGone(() => process.exit(0))
const server = await serveCell(socket, model.id, log)
process.once('SIGTERM', () => {
  void server.close().then(() => process.exit(0))
})
const open = model.kind === 'chat' ? openChatEngine : openEmbeddingEngine
server.ready(await open(model, log).catch(endOnMisfit))
log.info('The model is ready', { rssBytes: process.memoryUsage.rss() })

/** The caller who added the file gets the error; other failures may go well the next time. */
function endOnMisfit(error: unknown): never {
  if (!(error instanceof ErgonError && error.code === 'invalid_request')) throw error
  log.error('The process ends', { error: error.message })
  process.exit(EXIT_MISFIT)
}
