// The models of the product that these parts share.
export const CHAT = 'smollm2-135m-instruct'
export const EMBEDDING = 'all-minilm-l6-v2'
