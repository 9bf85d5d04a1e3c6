import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;

/** The database of the conformance suite, in memory, on a port of loopback: {@code java Mongo.java PORT}. */
public class Mongo {
  public static void main(String[] arguments) {
    new MongoServer(new Backend()).bind("127.0.0.1", Integer.parseInt(arguments[0]));
  }

  /** Answers the one command at the suite's start that the library does not support. */
  private static class Backend extends MemoryBackend {
    @Override
    public Document handleMessage(MongoMessage message) {
      if (!message.getDocument().containsKey("getParameter")) return super.handleMessage(message);
      Document version = new Document("version", "6.0");
      return new Document("featureCompatibilityVersion", version).append("ok", 1);
    }
  }
}
