// Webhooks of description files. The service knows them by their ids and urls: a name is the description's alone.
import type { Secret } from '#base/log.ts'
import { parseWebhookRequest } from '#contract/webhooks/webhooks.ts'
import { createAddressRule } from '#egress/addresses.ts'
import { fault } from '#contract/errors.ts'
import {
  attributeOf,
  type FoundResource,
  type StackAttributes,
  type StackPart,
  type StackProduct,
  type StackTarget,
  type StackWish,
} from '#resources/stack-part.ts'
import type { Queryable } from '#state/connect.ts'
import { openSecret, webhookKeyOf } from './delivery/secrets.ts'
import { maskedUrl, readTarget } from './delivery/target.ts'
import { createWebhook, type WebhookRules } from './operations/webhook-create.ts'
import { deleteWebhook } from './operations/webhook-delete.ts'
import { updateWebhook } from './operations/webhook-update.ts'
import type { WebhooksGatewaySettings } from './settings.ts'

export const WEBHOOKS_STACK: StackProduct<WebhooksGatewaySettings> = {
  name: 'webhooks',
  open: ({ secret }, { isOn, ...places }) => ({
    webhook: createWebhookPart({
      isOn,
      key: webhookKeyOf(secret),
      rule: createAddressRule(places.networks, places),
    }),
  }),
}

const createWebhookPart = (rules: WebhookRules): StackPart<'webhook'> => ({
  secretOutputs: ['secret'],
  exclusive: ['url'],
  wanted(wish) {
    if (!rules.isOn) throw fault('webhooks_off', `Could not create "${wish.name}"`)
    if (typeof wish.spec.url === 'string') readTarget(wish.spec.url, rules.rule)
    return wantedOf(wish)
  },
  find: (state, target) => findIt(state, target, rules.key),
  async apply(transaction, call, { wish, found }) {
    const request = requestOf(wish)
    if (found === undefined)
      return (await createWebhook(transaction, call, { request, ...rules })).id
    const { id } = found
    await updateWebhook(transaction, call, { id, change: request, rule: rules.rule })
    return id
  },
  async remove(transaction, call, { id }) {
    await deleteWebhook(transaction, call, id)
    return 'removed'
  },
})

const wantedOf = ({
  spec: { url, events, description },
}: StackWish<'webhook'>): StackAttributes => ({
  ...(typeof url === 'string' ? urlAttributes(url) : { url }),
  events: attributeOf(events, printEvents),
  description: attributeOf(description ?? '', String),
})

/** The values of a query may be secrets. */
const urlAttributes = (url: string): StackAttributes => ({
  url: maskedUrl(url) === url ? url : { hidden: url },
})

const printEvents = (events: readonly string[]): string => [...new Set(events)].toSorted().join(' ')

/** Throws invalid_request. */
const requestOf = ({ spec: { url, events, description } }: StackWish<'webhook'>) =>
  parseWebhookRequest({ url, events, description: description ?? '' })

type EndpointRow = {
  readonly id: string
  readonly url: string
  readonly events: string[]
  readonly description: string
  readonly secret: string
}

async function findIt(
  state: Queryable,
  { account, id, spec }: StackTarget<'webhook'>,
  key: Secret,
): Promise<FoundResource | undefined> {
  const url = typeof spec?.url === 'string' ? spec.url : null
  const { rows } = await state.query<EndpointRow>(
    `select id, url, events, description, secret from webhook_endpoints
     where account = $1 and (id = $2 or url = $3) order by id = $2 desc nulls last limit 1`,
    [account, id ?? null, url],
  )
  const [row] = rows
  return (
    row && {
      id: row.id,
      attributes: {
        ...urlAttributes(row.url),
        events: printEvents(row.events),
        description: row.description,
      },
      outputs: { id: row.id, secret: openSecret(row.secret, key, row.id) },
      progress: 'ready',
    }
  )
}
