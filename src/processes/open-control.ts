// The operator's door of this node, wired.
import { join } from 'node:path'
import { createArtifacts } from '#artifacts/fetch.ts'
import { Secret, type Logger } from '#base/log.ts'
import type { BlobSettings } from '#blobs/stores.ts'
import type { Cells } from '#cells/cell.ts'
import type { Config } from '#config/config.ts'
import { toolEnvironment } from '#config/env.ts'
import type { Meter } from '#node/meter/meter.ts'
import type { ModelFleet } from '#inference/models/fleet.ts'
import { confirmModels } from '#inference/models/confirm.ts'
import type { DataFolder } from '#node/data-folder.ts'
import type { KeptJournals } from '#node/kept-journals.ts'
import type { State } from '#state/connect.ts'
import { createDerivedKeys } from '#s3/authentication/derived-keys.ts'
import { accountRoutes } from '#accounts/control/accounts.ts'
import { alarmRoutes } from '#node/control/alarms.ts'
import { startControl } from '#node/control/control.ts'
import { journalRoutes } from '#node/control/journals.ts'
import { modelAliasRoutes } from '#inference/control/model-aliases.ts'
import { modelRoutes } from '#inference/control/models.ts'
import { nodeRoutes } from '#statuspage/control/node.ts'
import { signerRoutes } from '#receipts/control/signers.ts'
import { storageKeyRoutes } from '#objects/control/storage-keys.ts'
import { storageMoveRoutes } from '#objects/control/storage-move.ts'

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
    ...accountRoutes(state, createDerivedKeys(new Secret(data.secrets.state)).pair),
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
