// The products of a gateway: one line each, in the order of opening.
import { WEBHOOKS_GATEWAY } from '#webhooks/gateway.ts'
import { WORKLOADS_GATEWAY } from '#workloads/gateway.ts'
import { COMPLIANCE_GATEWAY } from '#compliance/gateway.ts'
import { DATABASES_GATEWAY } from '#databases/gateway.ts'
import { DEPLOYMENTS_GATEWAY } from '#deployments/gateway.ts'
import { ACCOUNTS_GATEWAY } from '#accounts/gateway.ts'
import type { GatewayProduct } from '#http/gateway-part.ts'
import { FUNCTIONS_GATEWAY } from '#functions/gateway.ts'
import { INFERENCE_GATEWAY } from '#inference/gateway.ts'
import { LIVE_GATEWAY } from '#live/gateway.ts'
import { PAYMENTS_GATEWAY } from '#payments/gateway.ts'
import { PORTAL_GATEWAY } from '#portal/gateway.ts'
import { STORAGE_GATEWAY } from '#s3/gateway.ts'
import { STATUS_GATEWAY } from '#status/gateway.ts'

export const GATEWAY_PRODUCTS: readonly GatewayProduct[] = [
  INFERENCE_GATEWAY,
  STORAGE_GATEWAY,
  ACCOUNTS_GATEWAY,
  STATUS_GATEWAY,
  DATABASES_GATEWAY,
  FUNCTIONS_GATEWAY,
  DEPLOYMENTS_GATEWAY,
  WORKLOADS_GATEWAY,
  PAYMENTS_GATEWAY,
  WEBHOOKS_GATEWAY,
  COMPLIANCE_GATEWAY,
  LIVE_GATEWAY,
  PORTAL_GATEWAY,
]
