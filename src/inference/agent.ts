// Inference in the agent: the fleet of model cells, and the operator's operations on models.
import { Secret } from '#base/log.ts'
import { toolEnvironment } from '#config/env.ts'
import type { INFERENCE_CONTROL } from '#contract/inference/control.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { AgentCore, AgentPart, AgentProduct } from '#node/agent-part.ts'
import { MODEL_CELLS } from '#node/cell-names.ts'
import { aliasHandlers } from './control/model-aliases.ts'
import { modelHandlers } from './control/models.ts'
import { confirmModels } from './models/confirm.ts'
import { chosenModels } from './models/default-models.ts'
import { MODEL_PROGRAM, MODEL_SOCKETS, ModelFleet } from './models/fleet.ts'

export const INFERENCE_AGENT: AgentProduct = {
  name: 'inference',
  programs: [MODEL_PROGRAM],
  open,
}

async function open(core: AgentCore): Promise<AgentPart> {
  const { config, data, cells, state, log } = core
  const fleet = openFleet(core)
  // Before the gateways answer: a model that they do not know is refused for good, one that loads is waited for.
  await fleet.declare(chosenModels(config.models))
  const confirmed = () => confirmModels(cells, log)
  return {
    gateway: { calls: [MODEL_SOCKETS] },
    control: {
      ...aliasHandlers({ state, confirmed }),
      ...modelHandlers({
        fleet,
        state,
        modelsFolder: data.at('models'),
        confirmed,
        key: new Secret(data.secrets.state),
        operator: config.operator,
      }),
    } satisfies ControlHandlers<typeof INFERENCE_CONTROL>,
    start: () => fleet.start(),
    close: () => fleet.close(),
    cells: [{ stage: 'workers', name: MODEL_CELLS }],
  }
}

function openFleet({ config, data, cells, state, routedTo, place, log, report }: AgentCore) {
  return new ModelFleet({
    cells,
    state,
    log,
    routedTo,
    place,
    ...(config.gpu === 'off' ? {} : { gpu: config.gpu }),
    environment: toolEnvironment(),
    progress: report.progress,
    folders: {
      artifactsFolder: data.at('artifacts'),
      modelsFolder: data.at('models'),
      logLevel: config.logLevel,
      ...(config.artifacts === undefined ? {} : { offlineFolder: config.artifacts }),
    },
  })
}
