FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download && go mod verify
COPY . .
# The repository is not copied, so the commit has to be told.
ARG COMMIT=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.commit=$COMMIT" -o /tekrar ./cmd/tekrar

# Nothing but the program and the certificates it needs for sslmode=verify-full. Time
# zones are linked in.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /tekrar /tekrar
USER 65532:65532
ENV TEKRAR_ADDR=0.0.0.0:8080
EXPOSE 8080
# An address that others can reach needs TEKRAR_AUTH=basic and TEKRAR_PASSWORD.
HEALTHCHECK --interval=15s --timeout=5s --start-period=10s CMD ["/tekrar", "healthcheck"]
ENTRYPOINT ["/tekrar"]
CMD ["serve"]
