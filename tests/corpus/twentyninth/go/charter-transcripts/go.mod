module charter-transcripts

go 1.25

require latchwork v0.0.0

replace latchwork => ../../../../../guest-sdk/go
