// The two channels between the processes. In a separate file, so that the preload, which needs nothing else at
// run time, stays a page of code without the schemas.

/** The page asks; the name of the call and its input are checked behind it. */
export const CALL_CHANNEL = 'astrolab:call';
/** Events of the main process. */
export const EVENT_CHANNEL = 'astrolab:event';
