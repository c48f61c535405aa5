// Deployments in a gateway: the API that plans descriptions, and that asks for their application.
import { parseDeploymentRequest } from '#contract/deployments/deployments.ts'
import { recordsOf } from '#http/account-records.ts'
import { findNamed } from '#http/find-named.ts'
import type { GatewayCore, GatewayPart, GatewayProduct } from '#http/gateway-part.ts'
import { createDeploymentCancel } from './operations/deployment-cancel.ts'
import { createDeploymentCreate } from './operations/deployment-create.ts'
import { createDeploymentGet, createDeploymentList } from './operations/deployment-get.ts'
import { deploymentKeyOf } from './sealed-input.ts'

const DEPLOYMENTS_OF = `select id as place, id, stack, file, status, created_at, ended_at
  from deployments where account = $1 and id > $2 order by id limit $3`

export const DEPLOYMENTS_GATEWAY: GatewayProduct = { name: 'deployments', open }

function open({ readers: state, secret, stackParts }: GatewayCore): GatewayPart {
  const deps = { state, parts: stackParts, key: deploymentKeyOf(secret.reveal()) }
  return {
    endpoints: {
      'deployment.create': { parse: parseDeploymentRequest, handle: createDeploymentCreate(deps) },
      'deployment.list': { handle: createDeploymentList(deps) },
      'deployment.get': { handle: createDeploymentGet(deps) },
      'deployment.cancel': { handle: createDeploymentCancel(deps) },
    },
    lookups: {
      dep: {
        kind: 'deployment',
        find: findNamed(
          state,
          `select stack as name, '/v1/deployments/' || id as path from deployments where account = $1 and id = $2`,
        ),
      },
    },
    account: { records: { deployment: recordsOf(state, DEPLOYMENTS_OF) } },
  }
}
