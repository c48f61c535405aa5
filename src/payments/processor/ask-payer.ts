// A payment or a set-up that goes on once its payer has confirmed it on a page of the bank.
import type { ProcessorObject, ProcessorObjects } from './objects.ts'

/** Sends the payer to that page; the object is a payment_intent or a setup_intent. */
export async function askPayer(objects: ProcessorObjects, asked: ProcessorObject): Promise<void> {
  asked['status'] = 'requires_action'
  asked['next_action'] = {
    type: 'redirect_to_url',
    redirect_to_url: {
      url: `${objects.url}/test/authenticate/${asked.id}`,
      return_url: asked['return_url'],
    },
  }
  await objects.put(asked)
  await objects.emit(`${asked.object}.requires_action`, asked)
}
