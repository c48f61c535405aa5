// The refusal of an image for which its account has no room, while it is unpacked or afterwards.
import { fault } from '#contract/errors.ts'

const BYTES_PER_MB = 1_000_000

export const imageBeyondQuota = (text: string, bytes: number) =>
  fault(
    'image_quota_exceeded',
    `Could not keep the image "${text}": the images of the account may have ${Math.floor(bytes / BYTES_PER_MB)} MB more`,
  )
