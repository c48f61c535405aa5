// Inference in a gateway: the endpoints of OpenAI's API and the models behind them.
import {
  parseChatRequest,
  parseCompletionRequest,
  parseEmbeddingRequest,
} from '#contract/inference/inference.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { createFailures } from './failures.ts'
import { MODELS_PAGE } from './models/confirm.ts'
import { followModels } from './models/follow-models.ts'
import { keepLearned } from './models/learned-costs.ts'
import { createCeiling } from './operations/chat-ceiling.ts'
import { createChatCreate, routeChat } from './operations/chat-create.ts'
import { createCompletionCreate, routeCompletion } from './operations/completion-create.ts'
import { createEmbeddingCreate, routeEmbedding } from './operations/embedding-create.ts'
import { createModelGet } from './operations/model-get.ts'
import { createModelList } from './operations/model-list.ts'
import { UPSTREAM_CONNECTIONS_MAX } from './providers/openai/upstream.ts'
import { createShares } from './shares.ts'
import { createWholeRule } from './whole.ts'

export const INFERENCE_GATEWAY: GatewayProduct<unknown> = { name: 'inference', open }

async function open({
  name,
  lookUps,
  readers,
  session,
  secret,
  clock,
  log,
}: GatewayCore): Promise<GatewayPart> {
  const models = await followModels({ state: lookUps, log, clock, key: secret })
  const costs = await keepLearned({ state: readers, log, process: name })
  const inference = {
    ...models,
    learned: costs.learned,
    shares: createShares(UPSTREAM_CONNECTIONS_MAX),
    whole: createWholeRule(),
    clock,
    failures: createFailures({
      log,
      clock,
      providers: models.providers,
      servers: models.servers,
    }),
  }
  const priced = { ...inference, pusdPerJ: () => session.latest?.price.pusdPerJ ?? 0n }
  return {
    endpoints: {
      'chat.create': { parse: parseChatRequest, handle: createChatCreate(inference) },
      'completion.create': {
        parse: parseCompletionRequest,
        handle: createCompletionCreate(inference),
      },
      'embedding.create': {
        parse: parseEmbeddingRequest,
        handle: createEmbeddingCreate(inference),
      },
      'chat.ceiling': { parse: parseChatRequest, handle: createCeiling(priced, routeChat) },
      'completion.ceiling': {
        parse: parseCompletionRequest,
        handle: createCeiling(priced, routeCompletion),
      },
      'embedding.ceiling': {
        parse: parseEmbeddingRequest,
        handle: createCeiling(priced, routeEmbedding),
      },
      'model.list': { handle: createModelList(inference) },
      'model.get': { handle: createModelGet(inference) },
    },
    pages: {
      [MODELS_PAGE]: async () => {
        await models.refreshed()
        return { models: models.catalogue.models().length }
      },
    },
    drained: () => costs.close(),
    close: () => models.close(),
  }
}
