/** Buckets in seconds for the duration of a sign-in, which a person determines. */
export const signInSeconds = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

/** Buckets in seconds for the evaluation of a policy. */
export const evaluationSeconds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
];

/** Buckets for the number of changes in a commit. */
export const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];
