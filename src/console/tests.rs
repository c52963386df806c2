//! What the console does and shows: stories of messages, and frames.

mod frames;
