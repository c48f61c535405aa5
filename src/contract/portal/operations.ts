// The portal: passkeys and sessions of members, and logins of command lines. Operations that open or need a session
// are answered on the portal's origin alone.
import { withoutModel, ownView } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'

const anyone = { ...withoutModel, scope: null, service: 'portal', remembered: false } as const
const stranger = { ...anyone, onPortal: true } as const
const view = { ...ownView, service: 'portal', remembered: false, onPortal: true } as const
const limitedView = { ...view, limited: true } as const
const touched = { ...view, needsTouch: true } as const

export const PORTAL = defineProduct({
  operations: {
    'sign-up.begin': stranger,
    'sign-up.finish': stranger,
    'sign-in.begin': stranger,
    'sign-in.finish': stranger,
    'session.recover': stranger,
    'session.get': limitedView,
    'session.end': limitedView,
    'session.touch-begin': view,
    'session.touch': view,
    'session.list': view,
    'session.remove': view,
    'passkey.list': limitedView,
    'passkey.begin': { ...limitedView, needsTouch: true },
    'passkey.add': { ...limitedView, needsTouch: true },
    'passkey.rename': view,
    'passkey.remove': touched,
    'recovery-codes.renew': touched,
    'device-approval.create': touched,
    'login.begin': anyone,
    'login.get': view,
    'login.approve': touched,
    'login.finish': anyone,
    /** A page or a file of the console. */
    'portal.file': { ...stranger, unrouted: true },
  },
  routes: [
    { method: 'POST', path: '/v1/sign-up/options', operation: 'sign-up.begin', query: [] },
    { method: 'POST', path: '/v1/sign-up', operation: 'sign-up.finish', query: [] },
    { method: 'POST', path: '/v1/sign-in/options', operation: 'sign-in.begin', query: [] },
    { method: 'POST', path: '/v1/sign-in', operation: 'sign-in.finish', query: [] },
    { method: 'GET', path: '/v1/session', operation: 'session.get', query: [] },
    { method: 'DELETE', path: '/v1/session', operation: 'session.end', query: [] },
    { method: 'POST', path: '/v1/session/recover', operation: 'session.recover', query: [] },
    {
      method: 'POST',
      path: '/v1/session/touch/options',
      operation: 'session.touch-begin',
      query: [],
    },
    { method: 'POST', path: '/v1/session/touch', operation: 'session.touch', query: [] },
    { method: 'GET', path: '/v1/sessions', operation: 'session.list', query: [] },
    { method: 'DELETE', path: '/v1/sessions/:session', operation: 'session.remove', query: [] },
    { method: 'GET', path: '/v1/passkeys', operation: 'passkey.list', query: [] },
    { method: 'POST', path: '/v1/passkeys/options', operation: 'passkey.begin', query: [] },
    { method: 'POST', path: '/v1/passkeys', operation: 'passkey.add', query: [] },
    { method: 'PATCH', path: '/v1/passkeys/:passkey', operation: 'passkey.rename', query: [] },
    { method: 'DELETE', path: '/v1/passkeys/:passkey', operation: 'passkey.remove', query: [] },
    { method: 'POST', path: '/v1/recovery-codes', operation: 'recovery-codes.renew', query: [] },
    {
      method: 'POST',
      path: '/v1/device-approvals',
      operation: 'device-approval.create',
      query: [],
    },
    { method: 'POST', path: '/v1/logins', operation: 'login.begin', query: [] },
    { method: 'GET', path: '/v1/logins/:login', operation: 'login.get', query: [] },
    { method: 'POST', path: '/v1/logins/:login/approve', operation: 'login.approve', query: [] },
    { method: 'POST', path: '/v1/logins/:login/token', operation: 'login.finish', query: [] },
  ],
})
