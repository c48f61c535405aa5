// Every operation of the products, by name. A route or another protocol binds each of them; the scope matrix, the
// operation-matrix test and the OpenAPI page are made from this table.
import { WEBHOOKS } from './products/webhooks.ts'
import { DATABASES } from './products/databases.ts'
import { DEPLOYMENTS } from './products/deployments.ts'
import { COMPLIANCE } from './products/compliance.ts'
import type { Operation } from './operation.ts'
import { ACCOUNTS } from './products/accounts.ts'
import { FUNCTIONS } from './products/functions.ts'
import { WORKLOADS } from './products/workloads.ts'
import { INFERENCE } from './products/inference.ts'
import { LIVE } from './products/live.ts'
import { OPERATOR } from './products/operator.ts'
import { PAYMENTS } from './products/payments.ts'
import { PORTAL } from './products/portal.ts'
import { STATUS } from './products/status.ts'
import { STORAGE } from './products/storage.ts'

/** One line a product. */
export const PRODUCTS = [
  INFERENCE,
  STORAGE,
  ACCOUNTS,
  STATUS,
  DATABASES,
  FUNCTIONS,
  DEPLOYMENTS,
  WORKLOADS,
  PAYMENTS,
  WEBHOOKS,
  COMPLIANCE,
  LIVE,
  PORTAL,
  OPERATOR,
] as const

type Product = (typeof PRODUCTS)[number]
type NamesOf<P> = P extends { readonly operations: infer Operations } ? keyof Operations : never
export type OperationName = NamesOf<Product> & string
/** The operations that the JSON API serves. */
export type RoutedName = Product['routes'][number]['operation']

export const OPERATIONS = Object.assign(
  {},
  ...PRODUCTS.map(({ operations }) => operations),
) as Readonly<Record<OperationName, Operation>>

/** The service of an operation's charges; 'other' for one that is served no more. */
export const serviceOf = (operation: string): string =>
  (OPERATIONS as Readonly<Record<string, Operation | undefined>>)[operation]?.service ?? 'other'

/** False for work by the minute or by stored bytes. An operation that is served no more counts as requests. */
export const isRequest = (operation: string): boolean =>
  (OPERATIONS as Readonly<Record<string, Operation | undefined>>)[operation]?.withoutRequest !==
  true

export const operationOf = (name: OperationName): Operation => OPERATIONS[name]
