// The products of the agent: one line each, in the order of opening.
import { WEBHOOKS_AGENT } from '#webhooks/agent.ts'
import { WORKLOADS_AGENT } from '#workloads/agent.ts'
import { COMPLIANCE_AGENT } from '#compliance/agent.ts'
import { DATABASES_AGENT } from '#databases/agent.ts'
import { ACCOUNTS_AGENT } from '#accounts/agent.ts'
import { EGRESS_AGENT } from '#egress-proxy/agent.ts'
import { FUNCTIONS_AGENT } from '#functions/agent.ts'
import { INFERENCE_AGENT } from '#inference/agent.ts'
import { INGRESS_AGENT } from '#ingress/agent.ts'
import type { AgentProduct } from '#node/agent-part.ts'
import { PAYMENTS_AGENT } from '#payments/agent.ts'
import { PORTAL_AGENT } from '#portal/agent.ts'
import { RECEIPTS_AGENT } from '#receipts/agent.ts'
import { STORAGE_AGENT } from '#s3/agent.ts'
import { STATUS_AGENT } from '#status/agent.ts'

export const AGENT_PRODUCTS: readonly AgentProduct[] = [
  STORAGE_AGENT,
  INFERENCE_AGENT,
  RECEIPTS_AGENT,
  ACCOUNTS_AGENT,
  STATUS_AGENT,
  DATABASES_AGENT,
  FUNCTIONS_AGENT,
  WORKLOADS_AGENT,
  INGRESS_AGENT,
  EGRESS_AGENT,
  PAYMENTS_AGENT,
  WEBHOOKS_AGENT,
  COMPLIANCE_AGENT,
  PORTAL_AGENT,
]
