// Scripts of pages, and SQL of the service, that hold something back: a passkey, an offer, a message of another tab.

/** The person takes their time at the browser's dialog. */
export const HELD_PASSKEY = `{
  const real = navigator.credentials.create.bind(navigator.credentials)
  const asked = Promise.withResolvers()
  const made = Promise.withResolvers()
  window.passkeyAsked = asked.promise
  window.makePasskey = made.resolve
  navigator.credentials.create = async (options) => {
    asked.resolve()
    await made.promise
    return await real(options)
  }
}`
/** An offer asks the browser whether it may be made, then ends what runs. */
export const OFFER_SETTLED = `(async () => {
  for (let turn = 0; turn < 5; turn++)
    await PublicKeyCredential.isConditionalMediationAvailable()
})()`

/** The service answers no offer while the table `offers_held` has a row. */
export const HELD_OFFERS = `create table offers_held as select true;
  create function hold_offer() returns trigger language plpgsql as $$
  begin
    while exists (select from offers_held) loop
      perform pg_sleep(0.02);
    end loop;
    return new;
  end $$;
  create trigger hold_offer before insert on passkey_challenges
    for each row when (new.kind = 'sign-in') execute function hold_offer()`
export const OFFERS_AS_BEFORE = `drop trigger hold_offer on passkey_challenges;
  drop function hold_offer; drop table offers_held`

/** The state of the other tab comes this much later than its messages. */
const LATE_STATE_MS = 8000
export const LATE_STATE = `{
  const changed = Promise.withResolvers()
  window.changed = changed.promise
  const listen = BroadcastChannel.prototype.addEventListener
  BroadcastChannel.prototype.addEventListener = function (type, listener) {
    listen.call(this, type, (event) => {
      if (event.data.type === 'message') changed.resolve()
      setTimeout(() => listener(event), event.data.type === 'state' ? ${LATE_STATE_MS} : 0)
    })
  }
}`

/** A sign-in that ends 5 s after the time of its warning, by each read of the session. */
export const SHORT_SESSION = `{
  window.reads = 0
  window.leftMs = 125_000
  const real = window.fetch
  window.fetch = async (address, options) => {
    const answer = await real(address, options)
    if (address !== '/v1/session') return answer
    reads++
    const expires_at = new Date(Date.now() + leftMs).toISOString()
    return Response.json({ ...(await answer.json()), expires_at })
  }
}`
