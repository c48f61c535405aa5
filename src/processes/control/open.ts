// The operator's door of this node, wired.
import { join } from 'node:path'
import { createArtifacts } from '#artifacts/fetch.ts'
import { Secret, type Logger } from '#base/log.ts'
import type { BlobSettings } from '#blobs/stores.ts'
import type { Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { toolEnvironment } from '#config/env.ts'
import type { Meter } from '#processes/meter/meter.ts'
import type { ModelFleet } from '#processes/models/fleet.ts'
import { confirmModels } from '#processes/models/confirm.ts'
import type { DataFolder } from '#processes/node/data-folder.ts'
import type { KeptJournals } from '#processes/node/kept-journals.ts'
import type { State } from '#state/connect.ts'
import { createDerivedKeys } from '#s3/authentication/derived-keys.ts'
import { accountRoutes } from './accounts.ts'
import { alarmRoutes } from './alarms.ts'
import { startControl } from './control.ts'
import { journalRoutes } from './journals.ts'
import { modelAliasRoutes } from './model-aliases.ts'
import { modelRoutes } from './models.ts'
import { nodeRoutes } from './node.ts'
import { signerRoutes } from './signers.ts'
import { storageKeyRoutes } from './storage-keys.ts'
import { storageMoveRoutes } from './storage-move.ts'

const SOCKET = 'control.sock'

export function openControl(deps: {
  config: Config
  data: DataFolder
  state: State
  cells: Cells
  blobs: BlobSettings
  meter: Meter
  fleet: ModelFleet
  journals: KeptJournals
  log: Logger
}): Promise<{ close(): Promise<void> }> {
  const { config, data, state, cells, log } = deps
  const artifacts = createArtifacts({
    folder: data.at('artifacts'),
    environment: toolEnvironment(),
    ...(config.artifacts === undefined ? {} : { offlineFolder: config.artifacts }),
    log,
  })
  const confirmed = () => confirmModels(cells, log)
  const routes = [
    ...accountRoutes(state, createDerivedKeys(new Secret(data.secrets.state))),
    ...nodeRoutes({ ...deps, artifacts }),
    ...alarmRoutes(state),
    ...journalRoutes(deps.journals),
    ...signerRoutes({ state, cells, signersFolder: data.at('signers') }),
    ...storageMoveRoutes({ state, cells, blobs: deps.blobs, log }),
    ...storageKeyRoutes({ state, keyIds: config.storageKmsKeys }),
    ...modelAliasRoutes({ state, confirmed }),
    ...modelRoutes({
      fleet: deps.fleet,
      state,
      modelsFolder: data.at('models'),
      confirmed,
      key: new Secret(data.secrets.state),
      operator: config.operator,
    }),
  ]
  return startControl({ socket: join(data.runFolder, SOCKET), routes, log })
}
