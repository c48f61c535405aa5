// The products whose resources description files have: one line each.
import { DATABASES_STACK } from '#databases/stack.ts'
import { FUNCTIONS_STACK } from '#functions/stack.ts'
import { ROUTES_STACK } from '#ingress/route-part.ts'
import type { StackProduct } from '#resources/stack-part.ts'
import { STORAGE_STACK } from '#s3/buckets/stack.ts'
import { WEBHOOKS_STACK } from '#webhooks/stack.ts'
import { WORKLOADS_STACK } from '#workloads/stack.ts'

export const STACK_PRODUCTS: readonly StackProduct[] = [
  STORAGE_STACK,
  DATABASES_STACK,
  FUNCTIONS_STACK,
  WORKLOADS_STACK,
  ROUTES_STACK,
  WEBHOOKS_STACK,
]
