// The limits of inference requests. No zod here: the engine's process imports this file.

export const MESSAGES_MAX = 2048
export const CHOICES_MAX = 8
export const STOPS_MAX = 4
export const INPUTS_MAX = 2048
export const TOOLS_MAX = 128
export const PARTS_MAX = 256
export const TOKENS_MAX = 1_000_000
export const IDS_MAX = 131_072
export const BIASES_MAX = 300
export const STOP_LENGTH_MAX = 256
