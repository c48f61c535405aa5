// docs/reference/limits.md: what a request may be and ask for. Each figure is the constant that the product
// refuses by, and each code one of the errors: neither can be another here than there.
import { REQUESTS } from './requests.ts'
import { MEMBERS } from './members.ts'
import { PORTAL_LIMITS } from './portal.ts'
import { BODIES } from './bodies.ts'
import { INFERENCE } from './inference.ts'
import { ACCOUNT } from './account.ts'
import { STORAGE } from './storage.ts'
import { DATABASES } from './databases.ts'
import { FUNCTIONS } from './functions.ts'
import { DEPLOYMENTS } from './deployments.ts'
import { WORKLOADS } from './workloads.ts'
import { WEBHOOKS } from './webhooks.ts'
import { EVIDENCE } from './evidence.ts'
import { PAYMENTS } from './payments.ts'
import { DESCRIPTIONS_OF_STACKS } from './descriptions.ts'
import type { LimitSection } from './limit.ts'

export const LIMITS: readonly LimitSection[] = [
  REQUESTS,
  MEMBERS,
  PORTAL_LIMITS,
  BODIES,
  INFERENCE,
  ACCOUNT,
  STORAGE,
  DATABASES,
  FUNCTIONS,
  DEPLOYMENTS,
  WORKLOADS,
  WEBHOOKS,
  EVIDENCE,
  PAYMENTS,
  DESCRIPTIONS_OF_STACKS,
]
